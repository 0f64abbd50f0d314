import { MemberFinder, scanArray, skipSpace } from '../../base/json-scan.ts';
import type { Call } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodRow, methods } from '../../protocol/methods.ts';
import { type Slot, slot as slotOf, U64_MAX } from '../../solana/units.ts';

/** Start of a result whose context starts with the slot. Agave writes apiVersion before the slot. */
const HEAD = Buffer.from('{"context":{"slot":');
const HEAD_BYTES = 128;
const CONTEXT_SLOT = /^\{\s*"context"\s*:\s*\{[^{}]*"slot"\s*:\s*(\d{1,20})[\s,}]/;

const COMMITMENT = Buffer.from('"commitment"');
const MIN_CONTEXT_SLOT = Buffer.from('"minContextSlot"');
const FIRST_SLOT = /^\s*\[\s*(\d{1,20})\s*[,\]]/;
/** Enough for white space, a colon and a short value. */
const VALUE_BYTES = 48;
const WORD_VALUE = /^\s*:\s*"([a-z]+)"/;
const NUMBER_VALUE = /^\s*:\s*(\d{1,20})\s*[,}]/;

function slotFrom(digits: string | undefined): Slot | null {
  if (digits === undefined) return null;
  const value = BigInt(digits);
  return value <= U64_MAX ? slotOf(value) : null;
}

/** Fast path for a context that starts with the slot. */
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

/** null if the result does not start with a context. */
export function leadingContextSlot(result: Buffer): Slot | null {
  const first = firstContextSlot(result);
  if (first !== null) return first;
  return slotFrom(CONTEXT_SLOT.exec(result.toString('latin1', 0, HEAD_BYTES))?.[1]);
}

/** Text after the first occurrence of the name. The raw bytes are searched, so the match may not be a member name. */
function textAfter(params: Buffer, name: Buffer): string | null {
  const at = params.indexOf(name);
  if (at < 0) return null;
  const from = at + name.length;
  return params.toString('latin1', from, from + VALUE_BYTES);
}

/** Finds the commitment by an inexact scan, for node selection. State shared by callers needs `certainCommitment`. */
export function commitmentOf({ row, params }: Call): Commitment {
  // Methods without a commitment use the newest state.
  if (row.commitment === null) return 'processed';
  const text = params === null ? null : textAfter(params, COMMITMENT);
  const value = text === null ? undefined : WORD_VALUE.exec(text)?.[1];
  return value === 'processed' || value === 'confirmed' ? value : 'finalized';
}

export function minContextSlotOf({ row, params }: Call): Slot | null {
  if (row.configIndex === null || params === null) return null;
  const text = textAfter(params, MIN_CONTEXT_SLOT);
  return text === null ? null : slotFrom(NUMBER_VALUE.exec(text)?.[1]);
}

/** Slot in the first param. */
export const firstSlotOf = (params: Buffer | null): Slot | null =>
  params === null ? null : slotFrom(FIRST_SLOT.exec(params.toString('latin1', 0, VALUE_BYTES))?.[1]);

/** Maximum nesting; responses never nest deeper. */
const DEPTH_MAX = 256;
const SLOT_TEXT = /^\d{1,20}$/;

/** Raw value of a member; null if the bytes at `start` are not an object with that member. */
export function memberOf(bytes: Buffer, name: string, start = 0): Buffer | null {
  const finder = new MemberFinder([name]);
  return finder.scan(bytes, start, DEPTH_MAX) < 0 ? null : finder.valueIn(bytes, 0);
}

function slotIn(text: Buffer | null): Slot | null {
  const digits = text?.toString('latin1', 0, 24);
  return digits !== undefined && SLOT_TEXT.test(digits) ? slotFrom(digits) : null;
}

/** Finds `context.slot` at any position. */
export function contextSlot(result: Buffer): Slot | null {
  const atHead = leadingContextSlot(result);
  if (atHead !== null) return atHead;
  const context = memberOf(result, 'context');
  return context === null ? null : slotOfResult(context, 'slot');
}

export const reportsSlot = (row: MethodRow): boolean =>
  row.context || row === methods.getSlot || row === methods.getEpochInfo;

export function readObservedSlot(row: MethodRow, result: Buffer): Slot | null {
  if (row.context) return contextSlot(result);
  if (row === methods.getEpochInfo) return slotOfResult(result, 'absoluteSlot');
  return row === methods.getSlot ? slotIn(result) : null;
}

/** Block height; monotonic reads compare it like a slot, because it increases with the slot. */
export const readObservedHeight = (row: MethodRow, result: Buffer): Slot | null =>
  row === methods.getBlockHeight ? slotIn(result) : null;

export const slotOfResult = (result: Buffer, name: string): Slot | null => slotIn(memberOf(result, name));

/** `hasMissing`: an item has no slot, so there is no result. */
type Newest = { readonly bytes: Buffer; readonly name: string; slot: Slot | null; hasMissing: boolean };

function recordElement(newest: Newest, start: number): void {
  const { bytes, name } = newest;
  const found = slotIn(memberOf(bytes, name, start));
  newest.hasMissing ||= found === null;
  if (found !== null && (newest.slot === null || found > newest.slot)) newest.slot = found;
}

/** Newest slot in the member `name` of the list's items; null if an item has no slot or the list is empty. */
export function newestSlotOf(result: Buffer, name: string): Slot | null {
  const newest: Newest = { bytes: result, name, slot: null, hasMissing: false };
  const end = scanArray(result, skipSpace(result, 0), DEPTH_MAX, newest, recordElement);
  return end < 0 || newest.hasMissing ? null : newest.slot;
}
