import { base58 } from '@scure/base';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const ALPHABET_CODES = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0));
const ZERO_CODE = ALPHABET_CODES[0] ?? 0;

/** One limb holds five base58 digits: 58^5. A limb times 2^16 stays exact in a double. */
const LIMB = 656_356_768;
const DIGITS_PER_LIMB = 5;
/** 64 bytes have at most 88 digits, in 18 limbs. */
const limbs = new Float64Array(18);
const digits = Buffer.alloc(limbs.length * DIGITS_PER_LIMB);

/** The library refuses more. An instruction that a program called may have five times as much data. */
const LIBRARY_MAX_BYTES = 2048;

/** Digits that a double holds exactly: 58^9 is below 2^53. */
const DIGITS_PER_DOUBLE = 9;

/**
 * Base58 text of any bytes. Addresses and signatures, which the ledger names by the million, take a way of
 * their own, three to four times as fast.
 */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length === 32 || bytes.length === 64) return encodeFixed(bytes);
  return bytes.length > LIBRARY_MAX_BYTES ? encodeLong(bytes) : base58.encode(bytes);
}

/** Needs an even number of bytes, at most 64: two bytes at a time move into the limbs, lowest limb first. */
function encodeFixed(bytes: Uint8Array): string {
  let used = 0;
  for (let i = 0; i < bytes.length; i += 2) {
    let carry = ((bytes[i] as number) << 8) | (bytes[i + 1] as number);
    for (let at = 0; at < used; at++) {
      const value = (limbs[at] as number) * 65_536 + carry;
      carry = Math.floor(value / LIMB);
      limbs[at] = value - carry * LIMB;
    }
    // A carry is below 2^16 and so below a limb.
    if (carry > 0) limbs[used++] = carry;
  }
  return writeDigits(used, countLeadingZeros(bytes));
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

/** Digits of the limbs, highest first, behind one '1' for each leading zero byte. */
function writeDigits(used: number, zeros: number): string {
  let start = digits.length;
  for (let at = 0; at < used; at++) {
    let value = limbs[at] as number;
    for (let digit = 0; digit < DIGITS_PER_LIMB; digit++) {
      const rest = Math.floor(value / 58);
      digits[--start] = ALPHABET_CODES[value - rest * 58] as number;
      value = rest;
    }
  }
  while (start < digits.length && digits[start] === ZERO_CODE) start++;
  const text = digits.toString('latin1', start);
  return zeros === 0 ? text : '1'.repeat(zeros) + text;
}

/**
 * Bytes of a base58 text. The time grows with the square of its length, so callers bound texts from outside.
 * @returns null when a character is outside the alphabet; base58 has no other fault.
 */
export function decodeBase58(text: string): Uint8Array | null {
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}
