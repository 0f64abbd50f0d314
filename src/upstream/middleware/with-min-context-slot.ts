import { decodeString, kindOf, scanArray, scanObject, skipSpace } from '../../base/json-scan.ts';
import type { Slot } from '../../solana/units.ts';

/** As deep as a request may nest. */
const DEPTH_MAX = 127;
const NAME = 'minContextSlot';
const SLOT_TEXT = /^\d{1,20}$/;

type ElementSpans = { readonly starts: number[]; readonly ends: number[] };

function recordElement(spans: ElementSpans, start: number, end: number): void {
  spans.starts.push(start);
  spans.ends.push(end);
}

/** Position of the member; -1: absent. */
type MemberSpan = { readonly bytes: Buffer; start: number; end: number; members: number };

function recordMember(
  span: MemberSpan,
  nameStart: number,
  nameEnd: number,
  start: number,
  end: number,
): void {
  span.members++;
  if (decodeString(span.bytes, nameStart, nameEnd) !== NAME) return;
  span.start = start;
  span.end = end;
}

const splice = (bytes: Buffer, end: number, text: string, start: number): Buffer =>
  Buffer.concat([bytes.subarray(0, end), Buffer.from(text), bytes.subarray(start)]);

function withMember(bytes: Buffer, at: number, minSlot: Slot): Buffer {
  const span: MemberSpan = { bytes, start: -1, end: -1, members: 0 };
  scanObject(bytes, at, DEPTH_MAX, span, recordMember);
  if (span.start < 0) {
    return splice(bytes, at + 1, `"${NAME}":${minSlot}${span.members === 0 ? '' : ','}`, at + 1);
  }
  const current = bytes.toString('latin1', span.start, span.end);
  // Keep a higher or invalid value of the caller.
  const isLower = current === 'null' || (SLOT_TEXT.test(current) && BigInt(current) < minSlot);
  return isLower ? splice(bytes, span.start, String(minSlot), span.end) : bytes;
}

/**
 * Sets minContextSlot in the params.
 * @param index - of the options object.
 * @returns null if not possible: params are missing, or the value is not an object.
 */
export function withMinContextSlot(params: Buffer | null, index: number, minSlot: Slot): Buffer | null {
  const bytes = params ?? Buffer.from('[]');
  const spans: ElementSpans = { starts: [], ends: [] };
  const end = scanArray(bytes, skipSpace(bytes, 0), DEPTH_MAX, spans, recordElement);
  const count = spans.starts.length;
  if (end < 0 || count < index) return null;
  const config = `{"${NAME}":${minSlot}}`;
  if (count === index) return splice(bytes, end - 1, count === 0 ? config : `,${config}`, end - 1);
  const start = spans.starts[index] as number;
  const kind = kindOf(bytes[start]);
  if (kind === 'null') return splice(bytes, start, config, spans.ends[index] as number);
  return kind === 'object' ? withMember(bytes, start, minSlot) : null;
}
