import { randomInt } from 'node:crypto';
import { FILTERS_MAX, MEMCMP_BYTES_MAX } from './account-data-rule.ts';

/** Largest prime below 2^25. */
const PRIME = 33_554_393;
const PIECE_BYTES = 3;
const PIECE = 2 ** (8 * PIECE_BYTES);
/** Number of products added between reductions; small enough to keep sums below 2^53 and therefore exact. */
const REDUCED_EVERY = 8;
/** Number of pieces in a number below 2^64. */
export const NUMBER_PIECES = 3;
/** Maximum number of pieces in a key, which consists of compared bytes, data size and balance. */
const PIECES_MAX = FILTERS_MAX * Math.ceil(MEMCMP_BYTES_MAX / PIECE_BYTES) + 2 * NUMBER_PIECES;

const factors = Float64Array.from({ length: PIECES_MAX }, () => randomInt(PRIME));

const reduced = (sum: number): number => sum - Math.floor(sum / PRIME) * PRIME;

export const piecesOf = (length: number): number => Math.ceil(length / PIECE_BYTES);

/**
 * Universal hash like `hashAddress`, because clients choose the keys. The result, like `hash`, is below 2^25.
 * @param piece - number of pieces in the preceding parts.
 */
export function hashBytes(
  hash: number,
  piece: number,
  bytes: Uint8Array,
  at: number,
  length: number,
): number {
  let sum = hash;
  const whole = Math.floor(length / PIECE_BYTES);
  for (let nth = 0, from = at; nth < whole; nth++, from += PIECE_BYTES) {
    const value =
      (bytes[from] as number) | ((bytes[from + 1] as number) << 8) | ((bytes[from + 2] as number) << 16);
    sum += (factors[piece + nth] as number) * value;
    if (nth % REDUCED_EVERY === REDUCED_EVERY - 1) sum = reduced(sum);
  }
  let rest = 0;
  for (let nth = whole * PIECE_BYTES; nth < length; nth++) rest = rest * 256 + (bytes[at + nth] as number);
  return whole * PIECE_BYTES === length
    ? reduced(sum)
    : reduced(sum + (factors[piece + whole] as number) * rest);
}

/** Ignores bits 72 and above. */
export function hashNumber(hash: number, piece: number, value: number): number {
  const [low, high] = [value % PIECE, Math.floor(value / PIECE)];
  const sum = (factors[piece] as number) * low + (factors[piece + 1] as number) * (high % PIECE);
  return reduced(hash + sum + (factors[piece + 2] as number) * (Math.floor(high / PIECE) % PIECE));
}

export const randomHash = (): number => randomInt(PRIME);

/** An address has 32 bytes: ten pieces of three bytes and one of two. */
const PIECES = 11;

const [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10] = Array.from({ length: PIECES }, () =>
  randomInt(PRIME),
) as [number, number, number, number, number, number, number, number, number, number, number];

const piece = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);

/**
 * Hashes the 32 bytes at an offset to a number below 2^25. Clients choose the filtered addresses, so one client could
 * slow down all others with collisions. Each process therefore draws the function from a universal family, in which any
 * two addresses collide with a probability of 2^-25 (Carter and Wegman, "Universal classes of hash functions", 1979).
 * Sums stay below 2^53 and therefore exact.
 */
export function hashAddress(bytes: Uint8Array, at: number): number {
  const last = (bytes[at + 30] as number) | ((bytes[at + 31] as number) << 8);
  const sum =
    a0 * piece(bytes, at) +
    a1 * piece(bytes, at + 3) +
    a2 * piece(bytes, at + 6) +
    a3 * piece(bytes, at + 9) +
    a4 * piece(bytes, at + 12) +
    a5 * piece(bytes, at + 15) +
    a6 * piece(bytes, at + 18) +
    a7 * piece(bytes, at + 21) +
    a8 * piece(bytes, at + 24) +
    a9 * piece(bytes, at + 27) +
    a10 * last;
  return sum - Math.floor(sum / PRIME) * PRIME;
}
