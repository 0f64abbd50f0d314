import { ByteReader } from '../../base/bytes.ts';
import { type Address, addressFromBytes } from '../address.ts';
import { isTokenState, MINT_BYTES, readOption } from './token-state.ts';

/** A mint of either token program. Source: spl-token, `state::Mint`. */
export type Mint = Readonly<{
  mintAuthority: Address | null;
  /** Base units, u64. */
  supply: bigint;
  decimals: number;
  freezeAuthority: Address | null;
}>;

/**
 * Decodes the data of an account that a token program owns.
 * @returns null when it is no initialized mint.
 */
export function decodeMint(data: Uint8Array): Mint | null {
  if (!isTokenState(data, 'mint')) return null;
  const reader = new ByteReader(data.subarray(0, MINT_BYTES));
  const mintAuthority = readOption(reader, () => addressFromBytes(reader.bytes(32)));
  const supply = reader.u64();
  const decimals = reader.u8();
  const initialized = reader.u8();
  const freezeAuthority = readOption(reader, () => addressFromBytes(reader.bytes(32)));
  if (initialized !== 1 || mintAuthority === undefined || freezeAuthority === undefined) return null;
  return { mintAuthority, supply, decimals, freezeAuthority };
}
