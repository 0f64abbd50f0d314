import { kindOf, scanArray, scanObject, skipSpace } from '../../base/json-scan.ts';
import { type MethodRow, methods } from '../../protocol/methods.ts';
import { type Slot, slot, U64_MAX } from '../../solana/units.ts';
import { leadingContextSlot } from './context-slot.ts';

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
