import { areDigits, digitCount } from '../../base/text/digits.ts';
import { matchesAt } from '../../base/text/short-bytes.ts';

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
