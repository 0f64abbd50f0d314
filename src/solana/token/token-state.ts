import type { ByteReader } from '../../base/bytes.ts';

export const MINT_BYTES = 82;
export const TOKEN_ACCOUNT_BYTES = 165;
export const MULTISIG_BYTES = 355;

/** Where Token-2022 says whether an extended account is a mint (1) or a token account (2). */
export const ACCOUNT_TYPE_OFFSET = TOKEN_ACCOUNT_BYTES;

const kinds = {
  mint: { bytes: MINT_BYTES, type: 1 },
  account: { bytes: TOKEN_ACCOUNT_BYTES, type: 2 },
} as const;

/**
 * Whether data has the size of a plain mint or token account, or is one with extensions: longer than a token
 * account, zeros up to the type byte, and that byte right. A multisig's size never is either.
 * Source: spl-token-2022, `extension::type_and_tlv_indices`.
 */
export function isTokenState(data: Uint8Array, kind: keyof typeof kinds): boolean {
  const { bytes, type } = kinds[kind];
  if (data.length === bytes) return true;
  if (data.length <= ACCOUNT_TYPE_OFFSET || data.length === MULTISIG_BYTES) return false;
  for (let i = bytes; i < ACCOUNT_TYPE_OFFSET; i++) if (data[i] !== 0) return false;
  return data[ACCOUNT_TYPE_OFFSET] === type;
}

/**
 * Reads a C option: a 4-byte tag, then the value's bytes whether it is there or not.
 * @returns null for none, undefined when the tag is neither 0 nor 1.
 */
export function readOption<T>(reader: ByteReader, read: () => T): T | null | undefined {
  const tag = reader.u32();
  const value = read();
  if (tag === 0) return null;
  return tag === 1 ? value : undefined;
}
