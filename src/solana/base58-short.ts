/**
 * Base58 of what the ledger names by the million: addresses of 32 bytes and signatures of 64.
 *
 * A number of 64 bytes is 22 words of 24 bits, and 22 limbs of four base58 digits. Either is a product of the other with
 * a table of powers: sums of 22 products stay below 2^52, exact in a double, so that one pass of carries at the end is
 * enough.
 */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** 58^4: a limb. */
const LIMB = 11_316_496;
const DIGITS_PER_LIMB = 4;
/** 2^24. */
const WORD = 16_777_216;
const BYTES_PER_WORD = 3;
const SIZE = 22;

/** The longest that this writes. */
export const SHORT_MAX_BYTES = 64;
/** The longest that this reads: 64 bytes have at most 88 digits. */
export const SHORT_MAX_DIGITS = SIZE * DIGITS_PER_LIMB;

/** Powers of one base as digits of the other, lowest first: for each digit a row, the powers side by side. */
function powersOf(base: number, digitBase: number): Float64Array {
  const table = new Float64Array(SIZE * SIZE);
  for (let power = 0; power < SIZE; power++) {
    let rest = BigInt(base) ** BigInt(power);
    for (let digit = 0; digit < SIZE; digit++) {
      table[digit * SIZE + power] = Number(rest % BigInt(digitBase));
      rest /= BigInt(digitBase);
    }
  }
  return table;
}

const LIMBS_TO_WORDS = powersOf(LIMB, WORD);
const WORDS_TO_LIMBS = powersOf(WORD, LIMB);

const ALPHABET_CODES = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0));
const ZERO_CODE = ALPHABET_CODES[0] as number;
const NONE = 0xff;
/** A digit by its character. */
const DIGITS = new Uint8Array(128).fill(NONE);
ALPHABET_CODES.forEach((code, digit) => {
  DIGITS[code] = digit;
});

/** Two digits of a limb at a time, as characters. */
const PAIR = 58 * 58;
const PAIR_CODES = Uint16Array.from({ length: PAIR }, (_, pair) => {
  const [high = 0, low = 0] = [ALPHABET_CODES[Math.floor(pair / 58)], ALPHABET_CODES[pair % 58]];
  return (high << 8) | low;
});

/** Used again by each call: none of them can be interrupted. Lowest first. */
const words = new Float64Array(SIZE);
const limbs = new Float64Array(SIZE);
const codes = Buffer.alloc(SHORT_MAX_BYTES + SHORT_MAX_DIGITS);

/** The first `used` digits of `from` as digits of `to`, of which there may be one more. @returns how many. */
function convert(
  from: Float64Array,
  used: number,
  table: Float64Array,
  to: Float64Array,
  base: number,
): number {
  let carry = 0;
  for (let digit = 0; digit < used; digit++) {
    let sum = carry;
    // The bases are so near each other that lower powers have no such digit.
    for (let power = digit, at = digit * SIZE + digit; power < used; power++, at++) {
      sum += (from[power] as number) * (table[at] as number);
    }
    carry = Math.floor(sum / base);
    to[digit] = sum - carry * base;
  }
  if (carry === 0) return used;
  to[used] = carry;
  return used + 1;
}

function countZeros(bytes: Uint8Array): number {
  let count = 0;
  while (count < bytes.length && bytes[count] === 0) count++;
  return count;
}

/** Bytes from `start` on as words. @returns how many. */
function readWords(bytes: Uint8Array, start: number): number {
  let used = 0;
  let at = bytes.length;
  for (; at - start >= BYTES_PER_WORD; at -= BYTES_PER_WORD) {
    words[used++] =
      ((bytes[at - 3] as number) << 16) | ((bytes[at - 2] as number) << 8) | (bytes[at - 1] as number);
  }
  if (at - start === 2) words[used++] = ((bytes[start] as number) << 8) | (bytes[start + 1] as number);
  else if (at - start === 1) words[used++] = bytes[start] as number;
  return used;
}

/** Base58 text. @param bytes - at most SHORT_MAX_BYTES. */
export function encodeShortBase58(bytes: Uint8Array): string {
  const zeros = countZeros(bytes);
  const used = convert(words, readWords(bytes, zeros), WORDS_TO_LIMBS, limbs, LIMB);
  let start = codes.length;
  for (let at = 0; at < used; at++) {
    const limb = limbs[at] as number;
    const high = Math.floor(limb / PAIR);
    const [upper, lower] = [PAIR_CODES[high] as number, PAIR_CODES[limb - high * PAIR] as number];
    codes[--start] = lower;
    codes[--start] = lower >> 8;
    codes[--start] = upper;
    codes[--start] = upper >> 8;
  }
  while (start < codes.length && codes[start] === ZERO_CODE) start++;
  for (let left = zeros; left > 0; left--) codes[--start] = ZERO_CODE;
  return codes.toString('latin1', start);
}

/** Characters from `start` on as limbs. @returns how many; -1 when one is outside the alphabet. */
function readLimbs(text: string, start: number): number {
  let used = 0;
  for (let end = text.length; end > start; end -= DIGITS_PER_LIMB) {
    let limb = 0;
    for (let at = Math.max(start, end - DIGITS_PER_LIMB); at < end; at++) {
      const code = text.charCodeAt(at);
      const digit = code < DIGITS.length ? (DIGITS[code] as number) : NONE;
      if (digit === NONE) return -1;
      limb = limb * 58 + digit;
    }
    limbs[used++] = limb;
  }
  return used;
}

/**
 * Bytes of a base58 text.
 * @param text - of at most SHORT_MAX_DIGITS characters.
 * @returns null when a character is outside the alphabet.
 */
export function decodeShortBase58(text: string): Uint8Array | null {
  let zeros = 0;
  while (zeros < text.length && text.charCodeAt(zeros) === ZERO_CODE) zeros++;
  const limbCount = readLimbs(text, zeros);
  if (limbCount < 0) return null;
  if (limbCount === 0) return new Uint8Array(zeros);
  const used = convert(limbs, limbCount, LIMBS_TO_WORDS, words, WORD);
  return bytesOf(used, zeros);
}

/** Words as bytes, behind zeros. */
function bytesOf(wordCount: number, zeros: number): Uint8Array {
  let used = wordCount;
  while (used > 0 && words[used - 1] === 0) used--;
  const top = words[used - 1] as number;
  const bytes = new Uint8Array(zeros + used * BYTES_PER_WORD - (top < 256 ? 2 : top < 65_536 ? 1 : 0));
  let at = bytes.length;
  for (let index = 0; index < used; index++) {
    const word = words[index] as number;
    bytes[--at] = word;
    if (at > zeros) bytes[--at] = word >> 8;
    if (at > zeros) bytes[--at] = word >> 16;
  }
  return bytes;
}
