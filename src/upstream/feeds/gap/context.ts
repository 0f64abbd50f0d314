import { MALFORMED, scanObject } from '../../../base/json-scan.ts';
import type { Slot } from '../../../solana/units.ts';

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

/** `value` of a notification's result, raw. */
export const contextValue = (result: Buffer): Buffer =>
  rawMembers(result).get('value') ?? Buffer.from('null');

/** A result as PubSub writes it: its context has no more than the slot. */
export const withContext = (slot: Slot, value: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from(`{"context":{"slot":${slot}},"value":`), Buffer.from(value), Buffer.from('}')]);
