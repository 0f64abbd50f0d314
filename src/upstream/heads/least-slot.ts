import { decodeString, kindOf, scanArray, scanObject, skipSpace } from '../../base/json-scan.ts';
import type { Slot } from '../../ledger/units.ts';

/** Params may nest as deep as a request may. */
const DEPTH_MAX = 127;
const NAME = 'minContextSlot';
const SLOT_TEXT = /^\d{1,20}$/;

/** Where the elements of a list stand. */
type Places = { readonly starts: number[]; readonly ends: number[] };

function noteElement(places: Places, start: number, end: number): void {
  places.starts.push(start);
  places.ends.push(end);
}

/** Where the member stands in an object; -1: it is not there. */
type Place = { readonly bytes: Buffer; start: number; end: number; members: number };

function noteMember(place: Place, nameStart: number, nameEnd: number, start: number, end: number): void {
  place.members++;
  if (decodeString(place.bytes, nameStart, nameEnd) !== NAME) return;
  place.start = start;
  place.end = end;
}

const joined = (bytes: Buffer, end: number, text: string, start: number): Buffer =>
  Buffer.concat([bytes.subarray(0, end), Buffer.from(text), bytes.subarray(start)]);

/** The object at `at` with the member in it. */
function withMember(bytes: Buffer, at: number, least: Slot): Buffer {
  const place: Place = { bytes, start: -1, end: -1, members: 0 };
  scanObject(bytes, at, DEPTH_MAX, place, noteMember);
  if (place.start < 0) {
    return joined(bytes, at + 1, `"${NAME}":${least}${place.members === 0 ? '' : ','}`, at + 1);
  }
  const given = bytes.toString('latin1', place.start, place.end);
  // The caller wants more, or what no node will take.
  const isLess = given === 'null' || (SLOT_TEXT.test(given) && BigInt(given) < least);
  return isLess ? joined(bytes, place.start, String(least), place.end) : bytes;
}

/**
 * The same params, which let no node answer that has not come to a slot.
 * @param index - where the options object stands among them.
 * @returns null when they cannot say so: others are missing, or something else stands there.
 */
export function withLeastSlot(params: Buffer | null, index: number, least: Slot): Buffer | null {
  const bytes = params ?? Buffer.from('[]');
  const places: Places = { starts: [], ends: [] };
  const end = scanArray(bytes, skipSpace(bytes, 0), DEPTH_MAX, places, noteElement);
  const count = places.starts.length;
  if (end < 0 || count < index) return null;
  const config = `{"${NAME}":${least}}`;
  if (count === index) return joined(bytes, end - 1, count === 0 ? config : `,${config}`, end - 1);
  const start = places.starts[index] as number;
  const kind = kindOf(bytes[start]);
  if (kind === 'null') return joined(bytes, start, config, places.ends[index] as number);
  return kind === 'object' ? withMember(bytes, start, least) : null;
}
