import { zstdDecompressSync } from 'node:zlib';
import { decodeBase58, encodeBase58 } from '../../src/solana/base58.ts';
import type { Names } from './names.ts';
import { type PathRule, type Placeholder, pathRules, textRules } from './rules.ts';

/** A number as it was written, because 1.0 and 1 are different texts. */
class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | boolean | null | NumberText | Value[] | { [name: string]: Value };

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

const compiled = pathRules.map((rule: PathRule) => ({ pattern: pathPattern(rule.path), as: rule.as }));
const ofStrings = new Set<Placeholder>(['hash', 'version']);

const ENCODINGS = new Set(['base58', 'base64', 'base64+zstd']);
type EncodedBytes = [text: string, encoding: string];
const isEncoded = (value: Value[]): value is EncodedBytes =>
  value.length === 2 && typeof value[0] === 'string' && ENCODINGS.has(value[1] as string);

/** Replaces names' values within encoded bytes; other bytes keep their encoding to the letter. */
function replaceEncoded([text, encoding]: EncodedBytes, names: Names): Value[] {
  const encoded = encoding === 'base58' ? Buffer.from(decodeBase58(text) ?? []) : Buffer.from(text, 'base64');
  const bytes = encoding === 'base64+zstd' ? zstdDecompressSync(encoded) : encoded;
  const replaced = names.replaceBytes(bytes);
  if (replaced.equals(bytes)) return [text, encoding];
  const shown = encoding === 'base58' ? encodeBase58(replaced) : replaced.toString('base64');
  return [shown, encoding === 'base64+zstd' ? 'zstd content' : encoding];
}

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
      value = parse(text);
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
    return this.#names.replaceIn(replaced);
  }

  #replace(value: Value, path: string): Value {
    const rule = compiled.find(({ pattern }) => pattern.test(path));
    if (rule !== undefined) {
      const isFit = ofStrings.has(rule.as) ? typeof value === 'string' : value instanceof NumberText;
      if (isFit || rule.as === 'node') return this.#placeholder(value, rule.as);
    }
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) {
      if (isEncoded(value)) return replaceEncoded(value, this.#names);
      return value.map((item, index) => this.#replace(item, `${path}${index}.`));
    }
    if (typeof value !== 'object' || value === null || value instanceof NumberText) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        this.#names.replaceIn(name),
        this.#replace(member, `${path}${name.replaceAll('.', '_')}.`),
      ]),
    );
  }

  #placeholder(value: Value, as: Placeholder): string {
    return as === 'slot' ? this.#names.slot(Number((value as NumberText).text)) : `<${as}>`;
  }
}
