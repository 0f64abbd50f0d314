import { base58 } from '@scure/base';

// Fast path for up to 64 bytes, such as addresses and signatures. A number is stored as 22 words of 24 bits or as 22
// limbs of four base58 digits; multiplying by a table of powers converts between the two. Sums of 22 products stay
// below 2^52, which a double holds exactly, so one carry pass suffices.

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** 58^4. */
const LIMB = 11_316_496;
const DIGITS_PER_LIMB = 4;
/** 2^24. */
const WORD = 16_777_216;
const BYTES_PER_WORD = 3;
const SIZE = 22;

const SHORT_MAX_BYTES = 64;
const SHORT_MAX_DIGITS = SIZE * DIGITS_PER_LIMB;

/** Powers of `base`, each written as digits in `digitBase`, lowest first. Row n holds digit n of every power. */
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
const DIGITS = new Uint8Array(128).fill(NONE);
ALPHABET_CODES.forEach((code, digit) => {
  DIGITS[code] = digit;
});

/** Number of two-digit pairs. A limb is encoded as two pairs. */
const PAIR = 58 * 58;
const PAIR_CODES = Uint16Array.from({ length: PAIR }, (_, pair) => {
  const [high = 0, low = 0] = [ALPHABET_CODES[Math.floor(pair / 58)], ALPHABET_CODES[pair % 58]];
  return (high << 8) | low;
});

/** Shared scratch buffers, lowest digit first. Sharing is safe because calls are synchronous. */
const words = new Float64Array(SIZE);
const limbs = new Float64Array(SIZE);
const codes = Buffer.alloc(SHORT_MAX_BYTES + SHORT_MAX_DIGITS);

/** @returns the number of digits written to `to`, which is `used` or `used + 1`. */
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
    // Lower powers have no digit at this position, because the two bases are nearly equal.
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

/** @returns -1 for an invalid character. */
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

/** Limit of @scure/base. The data of an inner instruction can be five times as long. */
const LIBRARY_MAX_BYTES = 2048;

/** Base58 length of 10 KiB, Agave's `MAX_INSTRUCTION_DATA_LEN`. */
const TEXT_MAX = 13_985;

/** 58^9 is below 2^53, so a double holds nine digits exactly. */
const DIGITS_PER_DOUBLE = 9;

export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length <= SHORT_MAX_BYTES) {
    let zeros = 0;
    while (zeros < bytes.length && bytes[zeros] === 0) zeros++;
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
  return bytes.length > LIBRARY_MAX_BYTES ? encodeLong(bytes) : base58.encode(bytes);
}

function encodeLong(bytes: Uint8Array): string {
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  // A byte takes at most 1.366 base58 digits.
  const digits = digitsOf(value, Math.ceil(bytes.length * 1.366)).replace(/^1+/, '');
  return '1'.repeat(countLeadingZeros(bytes)) + digits;
}

/** Splits the number in half repeatedly, which is faster than dividing a large integer digit by digit. */
function digitsOf(value: bigint, width: number): string {
  if (width > DIGITS_PER_DOUBLE) {
    const low = width >> 1;
    const power = 58n ** BigInt(low);
    return digitsOf(value / power, width - low) + digitsOf(value % power, low);
  }
  let text = '';
  for (let rest = Number(value), digit = 0; digit < width; digit++) {
    text = ALPHABET.charAt(rest % 58) + text;
    rest = Math.floor(rest / 58);
  }
  return text;
}

function countLeadingZeros(bytes: Uint8Array): number {
  let count = 0;
  while (count < bytes.length && bytes[count] === 0) count++;
  return count;
}

function readDigits(text: string): Uint8Array | null {
  const digits = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const digit = DIGITS[text.charCodeAt(at)] ?? NONE;
    if (digit === NONE) return null;
    digits[at] = digit;
  }
  return digits;
}

/** Recursively splits off the lower 9, 18, 36, … digits. @param powers - 58^9, 58^18, 58^36, … */
function numberOf(digits: Uint8Array, from: number, to: number, powers: readonly bigint[]): bigint {
  if (to - from <= DIGITS_PER_DOUBLE) {
    let value = 0;
    for (let at = from; at < to; at++) value = value * 58 + (digits[at] as number);
    return BigInt(value);
  }
  const level = Math.ceil(Math.log2((to - from) / DIGITS_PER_DOUBLE)) - 1;
  const middle = to - DIGITS_PER_DOUBLE * 2 ** level;
  const high = numberOf(digits, from, middle, powers);
  return high * (powers[level] as bigint) + numberOf(digits, middle, to, powers);
}

/** 58^9, 58^18, 58^36, … for `numberOf`: as many powers as a number with `digits` digits needs. */
function powersFor(digits: number): bigint[] {
  const powers = [58n ** BigInt(DIGITS_PER_DOUBLE)];
  for (let width = DIGITS_PER_DOUBLE; width < digits; width *= 2)
    powers.push((powers.at(-1) as bigint) ** 2n);
  return powers;
}

function decodeLong(text: string): Uint8Array | null {
  const digits = readDigits(text);
  if (digits === null) return null;
  const zeros = countLeadingZeros(digits);
  const number = numberOf(digits, zeros, digits.length, powersFor(digits.length));
  const hex = zeros === digits.length ? '' : number.toString(16);
  const tail = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  const bytes = new Uint8Array(zeros + tail.length);
  bytes.set(tail, zeros);
  return bytes;
}

/** Accepts up to 13,985 characters (2 ms); time grows faster than linearly. @returns null if invalid or too long. */
export function decodeBase58(text: string): Uint8Array | null {
  if (text.length <= SHORT_MAX_DIGITS) {
    let zeros = 0;
    while (zeros < text.length && text.charCodeAt(zeros) === ZERO_CODE) zeros++;
    const limbCount = readLimbs(text, zeros);
    if (limbCount < 0) return null;
    if (limbCount === 0) return new Uint8Array(zeros);
    const used = convert(limbs, limbCount, LIMBS_TO_WORDS, words, WORD);
    return bytesOf(used, zeros);
  }
  return text.length > TEXT_MAX ? null : decodeLong(text);
}
