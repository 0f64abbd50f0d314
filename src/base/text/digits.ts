/** Decimal digits of integers up to 31 bits, written to bytes without allocating a string. */

export const DIGITS_NUMBER_MAX = 2 ** 31 - 1;

const ZERO = 0x30;

/** @param whole - exact, from 0. */
export function digitCount(whole: number): number {
  let digits = 1;
  for (let bound = 10; bound <= whole; bound *= 10) digits++;
  return digits;
}

/**
 * Writes the last digits of a number, padded with zeros.
 * @param whole - 0 to DIGITS_NUMBER_MAX; not checked.
 * @returns the offset after them.
 */
export function writeDigits(bytes: Uint8Array, start: number, whole: number, digits: number): number {
  const end = start + digits;
  let rest = whole | 0;
  for (let at = end - 1; at >= start; at--) {
    const quotient = (rest / 10) | 0;
    bytes[at] = ZERO + rest - quotient * 10;
    rest = quotient;
  }
  return end;
}

/** Whether the bytes are the last digits of a number. */
export function areDigits(bytes: Uint8Array, start: number, whole: number, digits: number): boolean {
  let rest = whole | 0;
  for (let at = start + digits - 1; at >= start; at--) {
    const quotient = (rest / 10) | 0;
    if (bytes[at] !== ZERO + rest - quotient * 10) return false;
    rest = quotient;
  }
  return true;
}
