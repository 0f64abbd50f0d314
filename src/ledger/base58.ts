import { base58 } from '@scure/base';

/** Base58 text of any bytes. */
export const encodeBase58 = (bytes: Uint8Array): string => base58.encode(bytes);

/**
 * Bytes of a base58 text.
 * @returns null when a character is outside the alphabet; base58 has no other fault.
 */
export function decodeBase58(text: string): Uint8Array | null {
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}
