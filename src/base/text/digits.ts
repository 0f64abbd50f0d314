/** Whole numbers of up to 31 bits as decimal digits in bytes, so that no text is made of them. */

/** The greatest number that is written here. */
export const DIGITS_NUMBER_MAX = 2 ** 31 - 1;

const ZERO = 0x30;

/** How many digits a number has. @param whole - from 0 on, and exact. */
export function digitCount(whole: number): number {
  let digits = 1;
  for (let bound = 10; bound <= whole; bound *= 10) digits++;
  return digits;
}

/**
 * Writes the last so many digits of a number, with zeros before it.
 * @param whole - 0 to DIGITS_NUMBER_MAX; not checked.
 * @returns where they end.
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

/** Whether the last so many digits of a number stand there. @param whole - as for `writeDigits`. */
export function areDigits(bytes: Uint8Array, start: number, whole: number, digits: number): boolean {
  let rest = whole | 0;
  for (let at = start + digits - 1; at >= start; at--) {
    const quotient = (rest / 10) | 0;
    if (bytes[at] !== ZERO + rest - quotient * 10) return false;
    rest = quotient;
  }
  return true;
}
