import { decodeString, kindOf, scanArray, scanObject, skipSpace } from '../../base/json-scan.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type Slot, slot } from '../../solana/units.ts';
import type { ConfigKind } from './cache-policy.ts';

/**
 * Canonical form of params: no white space, sorted members, minimal escapes, no default options. Numbers keep their
 * notation, because nodes reject 1.0 where they accept 1. `text` has one latin1 character per UTF-8 byte.
 */
export type CanonicalParams = Readonly<{
  text: string;
  /** null: unknown. */
  commitment: Commitment | null;
  /** 0 if absent. */
  minContextSlot: Slot;
  /** Whether the options object is the last param or absent. */
  isPlain: boolean;
}>;

export type ConfigPosition = Readonly<{ index: number | null; kind: ConfigKind | null }>;

/** Limits the time spent on hostile params. */
const DEPTH_MAX = 8;
const SLOT_TEXT = /^\d{1,20}$/;
const NO_SLOT = slot(0n);

const commitmentTexts: ReadonlyMap<string, Commitment> = new Map([
  ['"processed"', 'processed'],
  ['"confirmed"', 'confirmed'],
  ['"finalized"', 'finalized'],
]);

type Member = Readonly<{ name: string; text: string }>;

type Source = Readonly<{ bytes: Buffer; latin1: string }>;

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
  // Parsers disagree about duplicate names.
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

/** null if ambiguous. */
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

function configText(config: Member[], kind: ConfigKind): string | null {
  const commitment = memberText(config, '"commitment"');
  const isDefault = commitment === '"finalized"' || (kind === 'settled' && commitment === '"confirmed"');
  if (kind === 'strict') return isDefault && config.length === 1 ? null : objectText(config);
  const rest = isDefault ? config.filter(({ name }) => name !== '"commitment"') : config;
  return rest.length === 0 ? null : objectText(rest);
}

function listText({ items, configAt, config }: ParamList, kind: ConfigKind | null): string {
  const isLast = items.length === configAt + 1;
  if (config !== null) {
    const text = kind === null || !isLast ? objectText(config) : configText(config, kind);
    if (text === null) items.pop();
    else items[configAt] = text;
  } else if (isLast && kind !== null && items[configAt] === 'null') items.pop();
  return `[${items.join(',')}]`;
}

type SlotOptions = Pick<CanonicalParams, 'commitment' | 'minContextSlot'>;

const defaultSlotOptions: SlotOptions = { commitment: 'finalized', minContextSlot: NO_SLOT };

/** A value that cannot be interpreted makes the commitment unknown. */
function slotOptionsOf(config: readonly Member[]): SlotOptions {
  const requested = memberText(config, '"commitment"');
  const commitment = requested === null ? 'finalized' : (commitmentTexts.get(requested) ?? null);
  const minSlotText = memberText(config, '"minContextSlot"');
  if (minSlotText === null || minSlotText === 'null') return { commitment, minContextSlot: NO_SLOT };
  if (!SLOT_TEXT.test(minSlotText)) return { commitment: null, minContextSlot: NO_SLOT };
  return { commitment, minContextSlot: slot(BigInt(minSlotText)) };
}

const isPlain = ({ items, configAt, config }: ParamList): boolean =>
  configAt < 0 || items.length <= configAt || (items.length === configAt + 1 && config !== null);

/** @param latin1 - `params` as latin1 text. @returns null if invalid, nested too deeply, or if a name is repeated. */
export function canonicalParams(
  params: Buffer | null,
  latin1: string,
  { index, kind }: ConfigPosition,
): CanonicalParams | null {
  if (params === null) return { text: index === 0 ? '[]' : '', ...defaultSlotOptions, isPlain: true };
  const of: Source = { bytes: params, latin1 };
  const list: ParamList = {
    ...{ of, depth: DEPTH_MAX - 1, items: [], isAmbiguous: false },
    ...{ configAt: index ?? -1, config: null },
  };
  const end = scanArray(params, skipSpace(params, 0), DEPTH_MAX, list, recordParam);
  if (end < 0 || list.isAmbiguous) return null;
  const { commitment, minContextSlot } =
    list.config === null ? defaultSlotOptions : slotOptionsOf(list.config);
  const plain = isPlain(list);
  return { text: listText(list, kind), commitment, minContextSlot, isPlain: plain };
}
