/** Loops over short byte ranges, for which a native call costs more than the loop. */

/** Above this length, a native copy is cheaper. */
const LOOP_MAX_BYTES = 24;

/** Whether `bytes` contains `text` at `start`. @param end - the comparison does not read beyond this offset. */
export function matchesAt(bytes: Buffer, start: number, text: Buffer, end = bytes.length): boolean {
  if (end - start < text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text[i]) return false;
  return true;
}

export function copyTo(bytes: Buffer, start: number, piece: Buffer): number {
  if (piece.length > LOOP_MAX_BYTES) bytes.set(piece, start);
  else for (let i = 0; i < piece.length; i++) bytes[start + i] = piece[i] as number;
  return start + piece.length;
}

/** Groups items by the length of their names, for fast lookups: few names share a length. */
export function byLength<Item extends Readonly<{ name: Buffer }>>(
  items: readonly Item[],
): readonly (readonly Item[] | undefined)[] {
  const lists: Item[][] = [];
  for (const item of items) {
    const { length } = item.name;
    lists[length] ??= [];
    lists[length]?.push(item);
  }
  return lists;
}

/** Largest number that `writeDigits` and `areDigits` accept: 31 bits. */
export const DIGITS_NUMBER_MAX = 2 ** 31 - 1;

const ZERO = 0x30;

/** @param whole - a non-negative safe integer. */
export function digitCount(whole: number): number {
  let digits = 1;
  for (let bound = 10; bound <= whole; bound *= 10) digits++;
  return digits;
}

/** Writes the last `digits` digits of a number up to DIGITS_NUMBER_MAX, zero-padded. @returns the end offset. */
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

/** Whether the bytes at `start` are the last `digits` digits of `whole`. */
export function areDigits(bytes: Uint8Array, start: number, whole: number, digits: number): boolean {
  let rest = whole | 0;
  for (let at = start + digits - 1; at >= start; at--) {
    const quotient = (rest / 10) | 0;
    if (bytes[at] !== ZERO + rest - quotient * 10) return false;
    rest = quotient;
  }
  return true;
}
