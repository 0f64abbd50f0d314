import { base58 } from '@scure/base';
import { decodeShortBase58, encodeShortBase58, SHORT_MAX_BYTES, SHORT_MAX_DIGITS } from './base58-short.ts';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The library refuses more. An instruction that a program called may have five times as much data. */
const LIBRARY_MAX_BYTES = 2048;

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

/**
 * Bytes of a base58 text. The time grows with the square of its length, so callers bound texts from outside.
 * @returns null when a character is outside the alphabet; base58 has no other fault.
 */
export function decodeBase58(text: string): Uint8Array | null {
  if (text.length <= SHORT_MAX_DIGITS) return decodeShortBase58(text);
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}
