import { base58 } from '@scure/base';
import { decodeShortBase58, encodeShortBase58, SHORT_MAX_BYTES, SHORT_MAX_DIGITS } from './base58-short.ts';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The library refuses more. An instruction that a program called may have five times as much data. */
const LIBRARY_MAX_BYTES = 2048;

/** Base58 of the longest data that an instruction may have. Source: Agave, `MAX_INSTRUCTION_DATA_LEN`, 10 KiB. */
const TEXT_MAX = 13_985;

/** Digits that a double holds exactly: 58^9 is below 2^53. */
const DIGITS_PER_DOUBLE = 9;

/** Base58 text of any bytes. */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length <= SHORT_MAX_BYTES) return encodeShortBase58(bytes);
  return bytes.length > LIBRARY_MAX_BYTES ? encodeLong(bytes) : base58.encode(bytes);
}

function encodeLong(bytes: Uint8Array): string {
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  // A byte is 1.366 digits.
  const digits = digitsOf(value, Math.ceil(bytes.length * 1.366)).replace(/^1+/, '');
  return '1'.repeat(countLeadingZeros(bytes)) + digits;
}

/** Exactly `width` digits, by halves: the engine divides large integers faster than a loop over digits. */
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

/** What each character counts; 255 for those outside the alphabet. */
const DIGIT_OF = new Uint8Array(128).fill(255);
for (const [digit, letter] of [...ALPHABET].entries()) DIGIT_OF[letter.charCodeAt(0)] = digit;

/** The digits of a text, or null when a character is none. */
function readDigits(text: string): Uint8Array | null {
  const digits = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const digit = DIGIT_OF[text.charCodeAt(at)] ?? 255;
    if (digit === 255) return null;
    digits[at] = digit;
  }
  return digits;
}

/** The number of the digits of a part, by halves whose low one has 9, 18, 36, … digits; `powers` are 58 to these. */
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

/** 58^9, 58^18, 58^36, …: as many as a number of so many digits is put together with. */
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

/**
 * Bytes of a base58 text of up to 13,985 characters, for which 2 milliseconds are enough; the time grows faster than
 * the length.
 * @returns null when a character is outside the alphabet, base58 having no other fault, or when the text is longer.
 */
export function decodeBase58(text: string): Uint8Array | null {
  if (text.length <= SHORT_MAX_DIGITS) return decodeShortBase58(text);
  return text.length > TEXT_MAX ? null : decodeLong(text);
}
