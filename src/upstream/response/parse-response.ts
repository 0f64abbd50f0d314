import { isUtf8 } from 'node:buffer';
import { MALFORMED, scanObject, skipSpace, skipValue } from '../../base/json-scan.ts';
import { areDigits, digitCount } from '../../base/text/digits.ts';
import { matchesAt } from '../../base/text/short-bytes.ts';
import type { RpcResponse } from '../../protocol/call.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';

/** How Agave writes a result: `{"jsonrpc":"2.0","result":…,"id":N}`, and perhaps a newline. A large one is known by it. */

/** What stands before the result. */
export const RESULT_PREFIX = Buffer.from('{"jsonrpc":"2.0","result":');

const BEFORE_ID = Buffer.from(',"id":');
const [NEWLINE, CLOSE] = [0x0a, 0x7d];

/** What stands behind the result. Our id proves that nothing was cut off, and that it is the answer to our request. */
export const tailOf = (id: number): string => `,"id":${id}}`;

/** Whether that, and at most a newline, is all that follows. No text is made of the id to see it. */
export function hasExactTail(bytes: Buffer, start: number, id: number): boolean {
  if (!matchesAt(bytes, start, BEFORE_ID)) return false;
  const digits = digitCount(id);
  const idAt = start + BEFORE_ID.length;
  const end = idAt + digits;
  if (!areDigits(bytes, idAt, id, digits) || bytes[end] !== CLOSE) return false;
  return bytes.length === end + 1 || (bytes.length === end + 2 && bytes[end + 1] === NEWLINE);
}

/**
 * Where the tail begins.
 * @param bytes - all of an answer, or its end.
 * @returns -1 when they do not end with it.
 */
export function tailStart(bytes: Buffer, tail: string): number {
  const end = bytes[bytes.length - 1] === NEWLINE ? bytes.length - 1 : bytes.length;
  const from = end - tail.length;
  return from >= 0 && bytes.toString('latin1', from, end) === tail ? from : -1;
}

/** Whether a long value may begin and end like this. No number or word is as long as what this is asked for. */
export const areDelimiters = (first: number | undefined, last: number | undefined): boolean =>
  (first === 0x7b && last === 0x7d) || (first === 0x5b && last === 0x5d) || (first === 0x22 && last === 0x22);

/**
 * Finds the `result` or the `error` in what a node sent, as a view into its bytes: a result is never parsed, so
 * that u64 values survive. What is kept, parsed or put beside other answers is JSON, and no deeper than any answer: the
 * whole text is scanned, which costs about a microsecond and a half a kilobyte. Only a large answer in the order in which
 * Agave writes, which goes as it came to one caller and to nobody else, is recognised by its two ends and by what does not
 * stand between them: our id in the tail proves that nothing was cut off.
 */

/** Answers up to this size are always scanned whole. */
const SCAN_ALWAYS_MAX_BYTES = 4096;

const NULL = Buffer.from('null');
/** An `error` member, here or deeper: whether it is the envelope's own only a scan can tell. */
const ERROR_NAME = Buffer.from('"error"');
/** A member of an envelope, which stands in no result: as words of a string its quote would be escaped. */
const ENVELOPE_NAME = Buffer.from('jsonrpc":');
/** Longer than any error of a node: unlike results errors are read, and that takes long. */
const ERROR_MAX_BYTES = 1024 * 1024;
/** Deeper than any answer of a node nests. */
const DEPTH_MAX = 256;

/** `code` of a raw `error` member; null when it is not an error object, is longer than any, or its code is no error's. */
export function errorCodeOf(error: Buffer): number | null {
  if (error.length > ERROR_MAX_BYTES) return null;
  try {
    const code = (JSON.parse(error.toString('utf8')) as { code?: unknown } | null)?.code;
    return Number.isSafeInteger(code) && code !== 0 ? (code as number) : null;
  } catch {
    return null;
  }
}

function errorResponse(body: Buffer): RpcResponse | null {
  const errorCode = errorCodeOf(body);
  return errorCode === null ? null : { body, errorCode };
}

/** A `{"jsonrpc":"2.0","result":…,"id":N}` in the order and the spacing of Agave, checked whole; null when it is not. */
function locateInPlace(bytes: Buffer, id: number): RpcResponse | null {
  if (!matchesAt(bytes, 0, RESULT_PREFIX)) return null;
  const start = RESULT_PREFIX.length;
  const end = skipValue(bytes, start, DEPTH_MAX - 1);
  if (end === MALFORMED || !hasExactTail(bytes, end, id)) return null;
  return { body: bytes.subarray(start, end), errorCode: 0 };
}

/** A large `{"jsonrpc":"2.0","result":…,"id":N}`, the order in which Agave writes; null when in doubt. */
function locateByEnds(bytes: Buffer, id: number): RpcResponse | null {
  if (!matchesAt(bytes, 0, RESULT_PREFIX)) return null;
  const body = bytes.subarray(
    RESULT_PREFIX.length,
    Math.max(RESULT_PREFIX.length, tailStart(bytes, tailOf(id))),
  );
  if (!areDelimiters(body[0], body[body.length - 1])) return null;
  return body.includes(ERROR_NAME) || body.includes(ENVELOPE_NAME) ? null : { body, errorCode: 0 };
}

/** Where a member's value stands. */
type Span = Readonly<{ from: number; to: number }>;

/** The envelope as it was scanned: spans by name, and whether a name came twice or cannot be compared. */
type Envelope = { readonly bytes: Buffer; readonly spans: Map<string, Span>; isAmbiguous: boolean };

function recordMember(
  envelope: Envelope,
  nameStart: number,
  nameEnd: number,
  from: number,
  to: number,
): void {
  const name = envelope.bytes.toString('utf8', nameStart, nameEnd);
  envelope.isAmbiguous ||= envelope.spans.has(name) || name.includes('\\');
  envelope.spans.set(name, { from, to });
}

/** The members of the object that the bytes consist of; null when they are anything else. */
function scanEnvelope(bytes: Buffer): ReadonlyMap<string, Span> | null {
  const envelope: Envelope = { bytes, spans: new Map(), isAmbiguous: false };
  const end = scanObject(bytes, skipSpace(bytes, 0), DEPTH_MAX, envelope, recordMember);
  return end < 0 || skipSpace(bytes, end) !== bytes.length || envelope.isAmbiguous ? null : envelope.spans;
}

/** Any order and spacing: the whole text is checked. A null beside its filled sister counts as absent. */
function locateByScan(bytes: Buffer, id: number): RpcResponse | null {
  const spans = scanEnvelope(bytes);
  if (spans === null) return null;
  const member = (name: string): Buffer | null => {
    const span = spans.get(name);
    return span === undefined ? null : bytes.subarray(span.from, span.to);
  };
  const isNull = (value: Buffer | null): boolean => value === null || value.equals(NULL);
  const responseId = member('id')?.toString('latin1');
  const result = member('result');
  const error = member('error');
  if (error === null || isNull(error)) {
    return result !== null && responseId === String(id) ? { body: result, errorCode: 0 } : null;
  }
  const response = isNull(result) ? errorResponse(error) : null;
  const isOurs =
    responseId === String(id) || (responseId === 'null' && nodeErrorRow(response?.errorCode ?? 0).unreadable);
  return isOurs ? response : null;
}

/**
 * The answer to request `id` in the bytes a node sent with HTTP 200.
 * @param isForOne - it goes as it came to one caller: nobody else has it, keeps it or reads it.
 * @returns null when they are not that: truncated, HTML, someone else's id, not UTF-8, neither result nor error.
 */
export function locateResponse(bytes: Buffer, id: number, isExclusive = false): RpcResponse | null {
  if (!isUtf8(bytes)) return null;
  const byEnds = isExclusive && bytes.length > SCAN_ALWAYS_MAX_BYTES;
  return (byEnds ? locateByEnds(bytes, id) : locateInPlace(bytes, id)) ?? locateByScan(bytes, id);
}
