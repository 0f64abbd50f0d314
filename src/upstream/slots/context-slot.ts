import { kindOf, scanArray, scanObject, skipSpace } from '../../base/json-scan.ts';
import type { Call } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodRow, methods } from '../../protocol/methods.ts';
import { type Slot, slot, slot as slotOf, U64_MAX } from '../../solana/units.ts';

/** The context stands first in what Agave writes, with a version before the slot. */
const HEAD = Buffer.from('{"context":{"slot":');
const HEAD_BYTES = 128;
const CONTEXT_SLOT = /^\{\s*"context"\s*:\s*\{[^{}]*"slot"\s*:\s*(\d{1,20})[\s,}]/;

const COMMITMENT = Buffer.from('"commitment"');
const MIN_CONTEXT_SLOT = Buffer.from('"minContextSlot"');
const FIRST_SLOT = /^\s*\[\s*(\d{1,20})\s*[,\]]/;
/** White space, a colon and a value that is short. */
const VALUE_BYTES = 48;
const WORD_VALUE = /^\s*:\s*"([a-z]+)"/;
const NUMBER_VALUE = /^\s*:\s*(\d{1,20})\s*[,}]/;

const isU64 = (value: bigint): boolean => value <= U64_MAX;

function u64(digits: string | undefined): bigint | null {
  if (digits === undefined) return null;
  const value = BigInt(digits);
  return isU64(value) ? value : null;
}

/** The same as most nodes write it, with the slot first: read without making a text of it. */
function firstContextSlot(result: Buffer): Slot | null {
  if (result.length < HEAD.length || result.compare(HEAD, 0, HEAD.length, 0, HEAD.length) !== 0) return null;
  let value = 0;
  let at = HEAD.length;
  for (; at < HEAD.length + 15; at++) {
    const digit = (result[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  const next = result[at];
  return at > HEAD.length && (next === 0x7d || next === 0x2c) ? slotOf(value) : null;
}

/** The slot of the context that a result begins with; null where it begins otherwise. */
export function leadingContextSlot(result: Buffer): Slot | null {
  const first = firstContextSlot(result);
  if (first !== null) return first;
  const value = u64(CONTEXT_SLOT.exec(result.toString('latin1', 0, HEAD_BYTES))?.[1]);
  return value === null ? null : slotOf(value);
}

/** What stands behind the first place where the name occurs; it is looked for as bytes, not as a member. */
function textAfter(params: Buffer, name: Buffer): string | null {
  const at = params.indexOf(name);
  if (at < 0) return null;
  const from = at + name.length;
  return params.toString('latin1', from, from + VALUE_BYTES);
}

/**
 * The commitment that a call asks for, as most are written: `finalized` where it names none, as nodes take it. Only to
 * choose by who answers this call: what is learned for others goes by what the params mean (`certainCommitment`).
 */
export function commitmentOf({ row, params }: Call): Commitment {
  // What takes no commitment is answered from the newest state there is.
  if (row.commitment === null) return 'processed';
  const text = params === null ? null : textAfter(params, COMMITMENT);
  const value = text === null ? undefined : WORD_VALUE.exec(text)?.[1];
  return value === 'processed' || value === 'confirmed' ? value : 'finalized';
}

/** The slot that whoever answers must have come to; null where the call names none. */
export function minContextSlotOf({ row, params }: Call): bigint | null {
  if (row.config === null || params === null) return null;
  const text = textAfter(params, MIN_CONTEXT_SLOT);
  return text === null ? null : u64(NUMBER_VALUE.exec(text)?.[1]);
}

/** The slot that is the first of the parameters; null where they begin otherwise. */
export function firstSlotOf(params: Buffer | null): bigint | null {
  return params === null ? null : u64(FIRST_SLOT.exec(params.toString('latin1', 0, VALUE_BYTES))?.[1]);
}

/** Reads slots out of results, and nothing else of them. */

/** Deeper than any answer of a node nests. */
const DEPTH_MAX = 256;
const SLOT_TEXT = /^\d{1,20}$/;

/** A member that is looked for, and where its value stands. */
type MemberSearch = { readonly bytes: Buffer; readonly name: string; start: number; end: number };

function matchMember(
  search: MemberSearch,
  nameStart: number,
  nameEnd: number,
  start: number,
  end: number,
): void {
  if (nameEnd - nameStart !== search.name.length) return;
  if (search.bytes.toString('latin1', nameStart, nameEnd) !== search.name) return;
  search.start = start;
  search.end = end;
}

/** Where a member of the object at `at` stands; null when there is none. */
function find(bytes: Buffer, at: number, name: string): MemberSearch | null {
  const search: MemberSearch = { bytes, name, start: -1, end: -1 };
  const end = scanObject(bytes, at, DEPTH_MAX, search, matchMember);
  return end < 0 || search.start < 0 ? null : search;
}

function slotIn(bytes: Buffer, start: number, end: number): Slot | null {
  const text = bytes.toString('latin1', start, Math.min(end, start + 24));
  if (!SLOT_TEXT.test(text)) return null;
  const value = BigInt(text);
  return value <= U64_MAX ? slot(value) : null;
}

/** The slot that a member of an object is; null when it is none. */
function slotMember(bytes: Buffer, at: number, name: string): Slot | null {
  const found = find(bytes, at, name);
  return found === null ? null : slotIn(bytes, found.start, found.end);
}

/** `context.slot` of a result, wherever its context stands; null when it has none. */
export function contextSlot(result: Buffer): Slot | null {
  const atHead = leadingContextSlot(result);
  if (atHead !== null || kindOf(result[0]) !== 'object') return atHead;
  const context = find(result, 0, 'context');
  return context === null ? null : slotMember(result, context.start, 'slot');
}

/** Whether results of a method say which slot they are of. */
export const reportsSlot = (row: MethodRow): boolean =>
  row.context || row === methods.getSlot || row === methods.getEpochInfo;

/** The slot that a result says it is of; null when it says none. */
export function readObservedSlot(row: MethodRow, result: Buffer): Slot | null {
  if (row.context) return contextSlot(result);
  if (row === methods.getEpochInfo) return slotOfResult(result, 'absoluteSlot');
  return row === methods.getSlot ? slotIn(result, 0, result.length) : null;
}

/** The height that a result is; null when it is none. It grows with slots, and is the only one to say so little of them. */
export const readObservedHeight = (row: MethodRow, result: Buffer): Slot | null =>
  row === methods.getBlockHeight ? slotIn(result, 0, result.length) : null;

/** The member `slot` of a result, such as that of a transaction. */
export const slotOfResult = (result: Buffer, name: string): Slot | null =>
  kindOf(result[0]) === 'object' ? slotMember(result, 0, name) : null;

/** The newest of the slots in a list of objects. `odd`: one of them says none. */
type Newest = { readonly bytes: Buffer; readonly name: string; slot: Slot | null; hasMissing: boolean };

function recordElement(newest: Newest, start: number): void {
  const { bytes, name } = newest;
  const found = kindOf(bytes[start]) === 'object' ? slotMember(bytes, start, name) : null;
  newest.hasMissing ||= found === null;
  if (found !== null && (newest.slot === null || found > newest.slot)) newest.slot = found;
}

/** The newest slot that a list of objects names in a member; null when one of them names none, or there are none. */
export function newestSlotOf(result: Buffer, name: string): Slot | null {
  const newest: Newest = { bytes: result, name, slot: null, hasMissing: false };
  const end = scanArray(result, skipSpace(result, 0), DEPTH_MAX, newest, recordElement);
  return end < 0 || newest.hasMissing ? null : newest.slot;
}
