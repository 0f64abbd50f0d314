import { randomInt } from 'node:crypto';

/** The largest prime below 2^25: more than an index ever has chains. */
const PRIME = 33_554_393;
/** 32 bytes are ten pieces of three bytes and one of two. */
const PIECES = 11;

const [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10] = Array.from({ length: PIECES }, () =>
  randomInt(PRIME),
) as [number, number, number, number, number, number, number, number, number, number, number];

/** Three bytes as a number. */
const piece = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);

/**
 * A number below 2^25 for the 32 bytes from `at` on. Clients choose the addresses that they filter by, and whoever
 * finds many with one number makes an index slow for everybody. So the function is drawn anew by each process from a
 * family in which any two addresses meet once in 2^25 draws, whatever they are (Carter and Wegman, "Universal classes
 * of hash functions", 1979). The sum stays below 2^53 and is exact.
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
