import { isUtf8 } from 'node:buffer';
import { MALFORMED, MemberFinder, skipSpace, skipValue } from '../../base/json-scan.ts';
import { areDigits, digitCount, matchesAt } from '../../base/text/short-bytes.ts';
import type { RpcResponse } from '../../protocol/call.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';

/** Agave's result format: `{"jsonrpc":"2.0","result":…,"id":N}` and an optional newline. */
export const RESULT_PREFIX = Buffer.from('{"jsonrpc":"2.0","result":');

const BEFORE_ID = Buffer.from(',"id":');
const [NEWLINE, CLOSE] = [0x0a, 0x7d];

/** End of a response with a result. Its id proves that the response is complete and belongs to our request. */
export const tailOf = (id: number): string => `,"id":${id}}`;

/** Whether only the tail, and optionally a newline, follows at `start`. Allocates no string. */
export function hasExactTail(bytes: Buffer, start: number, id: number): boolean {
  if (!matchesAt(bytes, start, BEFORE_ID)) return false;
  const digits = digitCount(id);
  const idAt = start + BEFORE_ID.length;
  const end = idAt + digits;
  if (!areDigits(bytes, idAt, id, digits) || bytes[end] !== CLOSE) return false;
  return bytes.length === end + 1 || (bytes.length === end + 2 && bytes[end + 1] === NEWLINE);
}

/** @returns the start of the tail, or -1. */
export function tailStart(bytes: Buffer, tail: string): number {
  const end = bytes[bytes.length - 1] === NEWLINE ? bytes.length - 1 : bytes.length;
  const from = end - tail.length;
  return from >= 0 && bytes.toString('latin1', from, end) === tail ? from : -1;
}

/** Whether a long JSON value may start and end with these bytes. */
export const areDelimiters = (first: number | undefined, last: number | undefined): boolean =>
  (first === 0x7b && last === 0x7d) || (first === 0x5b && last === 0x5d) || (first === 0x22 && last === 0x22);

/**
 * Responses up to this size are always scanned completely (about 1.5 µs per KB). A larger response in Agave's format
 * that goes to a single caller is recognized by its two ends and the absence of an inner envelope.
 */
export const SCAN_ALWAYS_MAX_BYTES = 4096;

const NULL = Buffer.from('null');
/** Name of an `error` member; only a scan can tell its depth. */
const ERROR_NAME = Buffer.from('"error"');
/** Name of an envelope member. Inside a string, its quote would be escaped. */
const ENVELOPE_NAME = Buffer.from('jsonrpc":');
/** Errors are parsed, so their size is limited. */
const ERROR_MAX_BYTES = 1024 * 1024;
/** Maximum nesting; responses never nest deeper. */
const DEPTH_MAX = 256;

/** null if invalid or too large. */
export function errorCodeOf(error: Buffer): number | null {
  if (error.length > ERROR_MAX_BYTES) return null;
  try {
    const code = (JSON.parse(error.toString('utf8')) as { code?: unknown } | null)?.code;
    return Number.isSafeInteger(code) && code !== 0 ? (code as number) : null;
  } catch {
    return null;
  }
}

/** Validates a response in Agave's member order and spacing; null for any other format. */
function locateInPlace(bytes: Buffer, id: number): RpcResponse | null {
  if (!matchesAt(bytes, 0, RESULT_PREFIX)) return null;
  const start = RESULT_PREFIX.length;
  const end = skipValue(bytes, start, DEPTH_MAX - 1);
  if (end === MALFORMED || !hasExactTail(bytes, end, id)) return null;
  return { body: bytes.subarray(start, end), errorCode: 0 };
}

/** Recognizes a large response by its two ends; null if in doubt. */
function locateByEnds(bytes: Buffer, id: number): RpcResponse | null {
  if (!matchesAt(bytes, 0, RESULT_PREFIX)) return null;
  const body = bytes.subarray(
    RESULT_PREFIX.length,
    Math.max(RESULT_PREFIX.length, tailStart(bytes, tailOf(id))),
  );
  if (!areDelimiters(body[0], body[body.length - 1])) return null;
  return body.includes(ERROR_NAME) || body.includes(ENVELOPE_NAME) ? null : { body, errorCode: 0 };
}

/** Indexes of the member names in `envelope`. */
const [ID, RESULT, ERROR] = [0, 1, 2] as const;
/** Shared by all responses: the result of a scan is used before the next scan. */
const envelope = new MemberFinder(['id', 'result', 'error']);

/** Accepts any order and spacing. A null `result` or `error` counts as absent if the other member is present. */
function locateByScan(bytes: Buffer, id: number): RpcResponse | null {
  const end = envelope.scan(bytes, skipSpace(bytes, 0), DEPTH_MAX);
  const isAmbiguous = envelope.counts.some((count) => count > 1);
  if (end < 0 || skipSpace(bytes, end) !== bytes.length || isAmbiguous) return null;
  const responseId = envelope.valueIn(bytes, ID)?.toString('latin1');
  const isOurs = responseId === String(id);
  const result = envelope.valueIn(bytes, RESULT);
  const error = envelope.valueIn(bytes, ERROR);
  if (error === null || error.equals(NULL)) {
    return result !== null && isOurs ? { body: result, errorCode: 0 } : null;
  }
  const errorCode = result === null || result.equals(NULL) ? errorCodeOf(error) : null;
  if (errorCode === null) return null;
  const isUnreadable = responseId === 'null' && nodeErrorRow(errorCode).unreadable;
  return isOurs || isUnreadable ? { body: error, errorCode } : null;
}

/**
 * Returns a view of `result` or `error` in the response to request `id`. Results are never parsed, so u64 values stay
 * exact.
 * @param isExclusive - whether the response goes unmodified to one caller and is not cached.
 * @returns null if the response is invalid: truncated, HTML, not UTF-8, another id, or neither result nor error.
 */
export function locateResponse(bytes: Buffer, id: number, isExclusive = false): RpcResponse | null {
  if (!isUtf8(bytes)) return null;
  const byEnds = isExclusive && bytes.length > SCAN_ALWAYS_MAX_BYTES;
  return (byEnds ? locateByEnds(bytes, id) : locateInPlace(bytes, id)) ?? locateByScan(bytes, id);
}
