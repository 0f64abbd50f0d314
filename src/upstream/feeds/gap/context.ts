import { MALFORMED, scanObject } from '../../../base/json-scan.ts';
import { type Slot, slot as slotOf } from '../../../ledger/units.ts';

/** Deeper than any notification nests. */
const DEPTH_MAX = 256;

/** Parts of a JSON object by the names of its members, as views of its bytes. */
export type RawMembers = ReadonlyMap<string, Buffer>;

function noteMember(
  target: { bytes: Buffer; members: Map<string, Buffer> },
  nameStart: number,
  nameEnd: number,
  from: number,
  to: number,
): void {
  target.members.set(target.bytes.toString('latin1', nameStart, nameEnd), target.bytes.subarray(from, to));
}

/** The members of the object that the bytes consist of; empty when they are something else. */
export function rawMembers(bytes: Buffer): RawMembers {
  const members = new Map<string, Buffer>();
  const end = scanObject(bytes, 0, DEPTH_MAX, { bytes, members }, noteMember);
  return end === MALFORMED ? new Map() : members;
}

const HEAD = Buffer.from('{"context":{"slot":');
const DIGITS = /^\d{1,20}$/;

/** `context.slot` of a notification's result in the order in which nodes write it, without looking further. */
function leadingSlot(result: Buffer): Slot | null {
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

/** `context.slot` of a notification's result; null when it has none. */
export function contextSlot(result: Buffer): Slot | null {
  const leading = leadingSlot(result);
  if (leading !== null) return leading;
  const text = rawMembers(rawMembers(result).get('context') ?? Buffer.alloc(0))
    .get('slot')
    ?.toString('latin1');
  return text !== undefined && DIGITS.test(text) ? slotOf(BigInt(text)) : null;
}

/** `value` of a notification's result, raw. */
export const contextValue = (result: Buffer): Buffer =>
  rawMembers(result).get('value') ?? Buffer.from('null');

/** A result as PubSub writes it: its context has no more than the slot. */
export const withContext = (slot: Slot, value: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from(`{"context":{"slot":${slot}},"value":`), Buffer.from(value), Buffer.from('}')]);
