import { createHash } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { decodeBase58, encodeBase58 } from '../../src/solana/base58.ts';
import type { Names } from './names.ts';
import { type Placeholder, pathRules, textRules } from './rules.ts';

/** A number as it was written, because 1.0 and 1 are different texts. */
class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | boolean | null | NumberText | Value[] | { [name: string]: Value };

const isNumber = (value: Value): boolean => value instanceof NumberText;
/** A number, or one in quotes as in jsonParsed; the greatest u64 means none. */
const isPosition = (value: Value): boolean =>
  isNumber(value) || (typeof value === 'string' && /^\d{1,15}$/.test(value));
const isText = (value: Value): boolean => typeof value === 'string';

const parse = (text: string): Value =>
  JSON.parse(text, function (this: unknown, _name: string, value: unknown, context?: { source?: string }) {
    return typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value;
  } as (name: string, value: unknown) => unknown) as Value;

function write(value: Value): string {
  if (value instanceof NumberText) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`);
  return `{${members.join(',')}}`;
}

const escapePattern = (text: string): string => text.replace(/[.+?^${}()|[\]\\-]/g, '\\$&');

function pathPattern(path: string): RegExp {
  const parts = path
    .split('.')
    .map((part) => (part === '**' ? '(?:[^.]+\\.)*' : `${part === '*' ? '[^.]+' : escapePattern(part)}\\.`));
  return new RegExp(`^${parts.join('')}$`);
}

type CompiledRule = Readonly<{ pattern: RegExp; as: Placeholder }>;

/** By the last member of their path; `*` stands for any. */
const compiled = new Map<string, CompiledRule[]>();
for (const { path, as } of pathRules) {
  const last = path.slice(path.lastIndexOf('.') + 1);
  compiled.set(last, [...(compiled.get(last) ?? []), { pattern: pathPattern(path), as }]);
}
const ANY_MEMBER = compiled.get('*') ?? [];

function ruleFor(path: string, value: Value): CompiledRule | undefined {
  const last = path.slice(path.lastIndexOf('.', path.length - 2) + 1, -1);
  const isFit = ({ pattern, as }: CompiledRule): boolean => appliesTo[as](value) && pattern.test(path);
  return compiled.get(last)?.find(isFit) ?? ANY_MEMBER.find(isFit);
}

/** Kinds of values that a rule applies to; of others it leaves. */
const appliesTo: Readonly<Record<Placeholder, (value: Value) => boolean>> = {
  ...{ slot: isPosition, tip: isPosition, time: isNumber, count: isPosition },
  ...{ hash: isText, version: isText, base58: isText },
  ...{ signature: isText, 'named hash': isText },
  ...{ sorted: Array.isArray, distinct: Array.isArray, 'no votes': Array.isArray },
};

/** Longer values are shown by their size and a hash. */
const SHOWN_MAX_ITEMS = 300;
const SHOWN_MAX_CHARS = 3_000;
const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

const ENCODINGS = new Set(['base58', 'base64', 'base64+zstd']);
type EncodedBytes = [text: string, encoding: string];
const isEncoded = (value: Value[]): value is EncodedBytes =>
  value.length === 2 && typeof value[0] === 'string' && ENCODINGS.has(value[1] as string);

/** Members that depend on the build of a program. */
const UNITS = ['computeUnitsConsumed', 'unitsConsumed', 'costUnits', 'loadedAccountsDataSize'];

/**
 * Programs like Token exist in several builds, which consume other compute units. Builtin programs, whose units stay,
 * do not log them.
 */
function withForeignUnits(value: { [name: string]: Value }): { [name: string]: Value } {
  const logs = value.logMessages ?? value.logs;
  if (!Array.isArray(logs) || !logs.some((line) => isText(line) && (line as string).includes(' consumed ')))
    return value;
  const units = UNITS.filter((name) => value[name] instanceof NumberText);
  return { ...value, ...Object.fromEntries(units.map((name) => [name, '<units>'])) };
}

const VALIDATOR_VOTE = 'validator vote';

function decodeBytes([text, encoding]: EncodedBytes): Buffer {
  return encoding === 'base58' ? Buffer.from(decodeBase58(text) ?? []) : Buffer.from(text, 'base64');
}

/** Replaces names' values within encoded bytes; other bytes keep their encoding to the letter. */
function replaceEncoded([text, encoding]: EncodedBytes, names: Names): Value[] {
  const encoded = decodeBytes([text, encoding]);
  const bytes = encoding === 'base64+zstd' ? zstdDecompressSync(encoded) : encoded;
  const replaced = names.replaceBytes(bytes);
  if (replaced.equals(bytes)) return [text, encoding];
  const shown = encoding === 'base58' ? encodeBase58(replaced) : replaced.toString('base64');
  return [shown, encoding === 'base64+zstd' ? 'zstd content' : encoding];
}

/** The leader schedule has 432,000 numbers, which would take a second to parse. */
const LONG_NUMBER_LIST = /\[[\d,]{4000,}\]/g;
const shortList = (list: string): string => `"<${list.split(',').length} items: ${digest(list)}>"`;

/** Replaces what differs between two ledgers that behave alike, by the rules of rules.ts. */
export class Normalizer {
  readonly #names: Names;

  constructor(names: Names) {
    this.#names = names;
  }

  /** @param method - of the call or the notification. @returns the JSON text, or plain text with values replaced. */
  normalize(method: string, text: string): string {
    let value: Value;
    try {
      value = parse(text.replace(LONG_NUMBER_LIST, shortList));
    } catch {
      return this.text(text);
    }
    return write(this.#replace(value, `${method}.`));
  }

  text(text: string): string {
    const replaced = textRules.reduce(
      (rest, { pattern, replacement }) => rest.replace(pattern, replacement),
      text,
    );
    const named = this.#names.replaceIn(replaced);
    return named.length > SHOWN_MAX_CHARS ? `<${named.length} characters: ${digest(named)}>` : named;
  }

  #replace(value: Value, path: string): Value {
    const rule = ruleFor(path, value);
    if (rule !== undefined) return this.#apply(rule.as, value, path);
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return this.#list(value, path);
    if (typeof value !== 'object' || value === null || value instanceof NumberText) return value;
    const members = withForeignUnits(value);
    return Object.fromEntries(
      Object.entries(members).map(([name, member]) => [
        this.#names.replaceIn(name),
        this.#replace(member, `${path}${name.replaceAll('.', '_')}.`),
      ]),
    );
  }

  #list(value: Value[], path: string): Value {
    if (isEncoded(value)) return replaceEncoded(value, this.#names);
    const isLong = value.length > SHOWN_MAX_ITEMS && value.every(isNumber);
    const items = isLong ? value : value.map((item, index) => this.#replace(item, `${path}${index}.`));
    return items.length > SHOWN_MAX_ITEMS ? `<${items.length} items: ${digest(write(items))}>` : items;
  }

  #apply(as: Placeholder, value: Value, path: string): Value {
    switch (as) {
      case 'slot':
        return this.#names.slot(Number(value instanceof NumberText ? value.text : value));
      case 'base58': {
        const bytes = Buffer.from(decodeBase58(value as string) ?? []);
        return encodeBase58(this.#names.replaceBytes(bytes));
      }
      case 'distinct': {
        const items = (value as Value[]).map((item, index) => this.#replace(item, `${path}${index}.`));
        const texts = items.map(write);
        return items.filter((_, index) => texts.indexOf(texts[index] ?? '') === index);
      }
      case 'signature':
      case 'named hash': {
        const kind = as === 'signature' ? as : '(?:blockhash|nonce)';
        const named = this.#names.replaceIn(value as string);
        return new RegExp(`^<${kind}:`).test(named) ? named : `<${as === 'signature' ? as : 'hash'}>`;
      }
      case 'sorted':
        return (value as Value[])
          .map((item, index) => this.#replace(item, `${path}${index}.`))
          .sort((one, other) => (write(one) < write(other) ? -1 : 1));
      case 'no votes':
        return this.#list(
          (value as Value[]).filter((item) => !this.#isVote(item)),
          path,
        );
      default:
        return `<${as}>`;
    }
  }

  #isVote(item: Value): boolean {
    if (typeof item === 'string') return this.#names.replaceIn(item) === item;
    const { transaction } = item as { transaction: Value };
    const vote = this.#names.addressOf(VALIDATOR_VOTE) ?? '';
    if (Array.isArray(transaction))
      return decodeBytes(transaction as EncodedBytes).includes(Buffer.from(decodeBase58(vote) ?? []));
    if (typeof transaction === 'string')
      return Buffer.from(decodeBase58(transaction) ?? []).includes(Buffer.from(decodeBase58(vote) ?? []));
    return write(transaction).includes(vote);
  }
}
