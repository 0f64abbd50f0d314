import type { WritableJson } from '../../../../src/base/json.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Lamports } from '../../../../src/solana/units.ts';

/** An account on the wire. Source: Agave account-decoder-client-types `UiAccount`. */
export type AccountJson = Readonly<{
  /** By encoding: `[text, encoding]`, bare base58 text for `binary`, or `{parsed, program, space}`. */
  data: WritableJson;
  executable: boolean;
  lamports: Lamports;
  owner: Address;
  /** u64. */
  rentEpoch: bigint;
  /** Full data length in bytes, whatever the slice. */
  space: number;
}>;

/** An account with its address. Source: Agave `RpcKeyedAccount`. */
export type KeyedAccountJson = Readonly<{ account: AccountJson; pubkey: Address }>;
