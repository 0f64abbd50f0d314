import { ByteReader } from '../../base/bytes.ts';
import { type Address, addressFromBytes } from '../address.ts';
import { MULTISIG_BYTES } from './token-state.ts';

/** Source: spl-token, `state::Multisig`. */
export type Multisig = Readonly<{
  numRequiredSigners: number;
  numValidSigners: number;
  /** Every signer whose key is not all zeros. */
  signers: readonly Address[];
}>;

const SIGNERS_MAX = 11;

/**
 * Decodes the data of an account that a token program owns.
 * @returns null when it is no initialized multisig.
 */
export function decodeMultisig(data: Uint8Array): Multisig | null {
  if (data.length !== MULTISIG_BYTES) return null;
  const reader = new ByteReader(data);
  const numRequiredSigners = reader.u8();
  const numValidSigners = reader.u8();
  if (reader.u8() !== 1) return null;
  const keys = Array.from({ length: SIGNERS_MAX }, () => reader.bytes(32));
  const present = keys.filter((key) => key.some((byte) => byte !== 0));
  return { numRequiredSigners, numValidSigners, signers: present.map(addressFromBytes) };
}
