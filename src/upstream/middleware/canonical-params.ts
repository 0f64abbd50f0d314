import { decodeString, kindOf, scanArray, scanObject, skipSpace } from '../../base/json-scan.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type Slot, slot } from '../../solana/units.ts';
import type { ConfigKind } from './cache-policy.ts';

/**
 * Params written in the one way that all equal ones have in common: no white space, members in the order of their
 * names, strings with as few escapes as may be, and no defaults of the options object. Numbers stay as they were
 * written, because a node refuses 1.0 where it takes 1. The text has a character for each byte of UTF-8.
 */
export type CanonicalParams = Readonly<{
  text: string;
  /** What is asked at; null: it cannot be told. */
  commitment: Commitment | null;
  /** 0 where none was given. */
  minContextSlot: Slot;
  /** The options object is one, or absent, and the last of the params. */
  isPlain: boolean;
}>;

/** Where the options object stands among the params, and what it is. */
export type ConfigPosition = Readonly<{ index: number | null; kind: ConfigKind | null }>;

/** Params that nest deeper are nobody's; to look into them takes the time of their depth. */
const DEPTH_MAX = 8;
const SLOT_TEXT = /^\d{1,20}$/;
const NO_SLOT = slot(0n);

const commitmentTexts: ReadonlyMap<string, Commitment> = new Map([
  ['"processed"', 'processed'],
  ['"confirmed"', 'confirmed'],
  ['"finalized"', 'finalized'],
]);

type Member = Readonly<{ name: string; text: string }>;

/** What is read: bytes, and the same with a character for each of them. */
type Source = Readonly<{ bytes: Buffer; latin1: string }>;

/** A container that is being read. `odd`: equal ones cannot be told from others. */
type ParseState<Item> = {
  readonly of: Source;
  readonly depth: number;
  readonly items: Item[];
  isAmbiguous: boolean;
};

function stringText({ bytes, latin1 }: Source, start: number, end: number): string {
  const text = latin1.slice(start, end);
  if (!text.includes('\\')) return text;
  const decoded = decodeString(bytes, start + 1, end - 1);
  return Buffer.from(JSON.stringify(decoded), 'utf8').toString('latin1');
}

function recordElement(list: ParseState<string>, start: number, end: number): void {
  const text = valueText(list.of, start, end, list.depth);
  list.isAmbiguous ||= text === null;
  list.items.push(text ?? '');
}

function recordMember(
  object: ParseState<Member>,
  nameStart: number,
  nameEnd: number,
  start: number,
  end: number,
): void {
  const name = stringText(object.of, nameStart - 1, nameEnd + 1);
  const text = valueText(object.of, start, end, object.depth);
  // Of two members of a name one reader takes the last, and the other none.
  object.isAmbiguous ||= text === null || object.items.some((member) => member.name === name);
  object.items.push({ name, text: text ?? '' });
}

function membersOf(of: Source, start: number, depth: number): Member[] | null {
  const object: ParseState<Member> = { of, depth: depth - 1, items: [], isAmbiguous: false };
  const end = scanObject(of.bytes, start, depth, object, recordMember);
  return end < 0 || object.isAmbiguous ? null : object.items;
}

function elementsOf(of: Source, start: number, depth: number): string[] | null {
  const list: ParseState<string> = { of, depth: depth - 1, items: [], isAmbiguous: false };
  const end = scanArray(of.bytes, start, depth, list, recordElement);
  return end < 0 || list.isAmbiguous ? null : list.items;
}

const byName = (a: Member, b: Member): number => (a.name < b.name ? -1 : 1);

function objectText(members: Member[]): string {
  if (members.length > 1) members.sort(byName);
  let text = '';
  for (const member of members) text += `${text === '' ? '{' : ','}${member.name}:${member.text}`;
  return text === '' ? '{}' : `${text}}`;
}

/** Text of a value that is known to be JSON; null when equal ones cannot be told from others. */
function valueText(of: Source, start: number, end: number, depth: number): string | null {
  switch (kindOf(of.bytes[start])) {
    case 'string':
      return stringText(of, start, end);
    case 'object': {
      const members = membersOf(of, start, depth);
      return members === null ? null : objectText(members);
    }
    case 'array': {
      const elements = elementsOf(of, start, depth);
      return elements === null ? null : `[${elements.join(',')}]`;
    }
    default:
      return of.latin1.slice(start, end);
  }
}

/** The params as a list whose options object is taken apart. */
type ParamList = ParseState<string> & { readonly configAt: number; config: Member[] | null };

function recordParam(params: ParamList, start: number, end: number): void {
  const isConfig = params.items.length === params.configAt && kindOf(params.of.bytes[start]) === 'object';
  if (!isConfig) {
    recordElement(params, start, end);
    return;
  }
  params.config = membersOf(params.of, start, params.depth);
  params.isAmbiguous ||= params.config === null;
  params.items.push('');
}

const memberText = (config: readonly Member[], name: string): string | null =>
  config.find((member) => member.name === name)?.text ?? null;

/** What the options object says once what holds anyway is left out; null: it says nothing. */
function configText(config: Member[], kind: ConfigKind): string | null {
  const isDefault = memberText(config, '"commitment"') === '"finalized"';
  if (kind === 'strict') return isDefault && config.length === 1 ? null : objectText(config);
  const rest = isDefault ? config.filter(({ name }) => name !== '"commitment"') : config;
  return rest.length === 0 ? null : objectText(rest);
}

/** Leaves out an options object that says nothing, where nothing follows it. */
function listText({ items, configAt, config }: ParamList, kind: ConfigKind | null): string {
  const isLast = items.length === configAt + 1;
  if (config !== null) {
    const text = kind === null || !isLast ? objectText(config) : configText(config, kind);
    if (text === null) items.pop();
    else items[configAt] = text;
  } else if (isLast && kind !== null && items[configAt] === 'null') items.pop();
  return `[${items.join(',')}]`;
}

/** What the options object says of slots. One that nobody can read says nothing, and what it asks at is unknown. */
function slotOptionsOf(config: readonly Member[]): Pick<CanonicalParams, 'commitment' | 'minContextSlot'> {
  const requested = memberText(config, '"commitment"');
  const commitment = requested === null ? 'finalized' : (commitmentTexts.get(requested) ?? null);
  const minSlotText = memberText(config, '"minContextSlot"');
  if (minSlotText === null || minSlotText === 'null') return { commitment, minContextSlot: NO_SLOT };
  if (!SLOT_TEXT.test(minSlotText)) return { commitment: null, minContextSlot: NO_SLOT };
  return { commitment, minContextSlot: slot(BigInt(minSlotText)) };
}

/** Whether nothing stands where the options object does, or behind it, but one. */
const isPlain = ({ items, configAt, config }: ParamList): boolean =>
  configAt < 0 || items.length <= configAt || (items.length === configAt + 1 && config !== null);

/**
 * @param latin1 - the params with a character for each byte.
 * @returns null when equal params cannot be told from others: they nest too deep, or a name is there twice.
 */
export function canonicalParams(
  params: Buffer | null,
  latin1: string,
  { index, kind }: ConfigPosition,
): CanonicalParams | null {
  if (params === null) return { text: index === 0 ? '[]' : '', ...slotOptionsOf([]), isPlain: true };
  const of: Source = { bytes: params, latin1 };
  const list: ParamList = {
    ...{ of, depth: DEPTH_MAX - 1, items: [], isAmbiguous: false },
    ...{ configAt: index ?? -1, config: null },
  };
  const end = scanArray(params, skipSpace(params, 0), DEPTH_MAX, list, recordParam);
  if (end < 0 || list.isAmbiguous) return null;
  const { commitment, minContextSlot } = slotOptionsOf(list.config ?? []);
  const plain = isPlain(list);
  return { text: listText(list, kind), commitment, minContextSlot, isPlain: plain };
}
