import type { Address } from '../address.ts';
import type { Lamports } from '../units.ts';

/** Immutable: a write creates a new object, so readers of older slots are not affected. Source: solana-account. */
export type Account = Readonly<{
  lamports: Lamports;
  data: Uint8Array;
  owner: Address;
  executable: boolean;
  /** u64; u64::MAX for every rent-exempt account. */
  rentEpoch: bigint;
}>;
