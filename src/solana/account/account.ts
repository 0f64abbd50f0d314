import type { Address } from '../address.ts';
import type { Lamports } from '../units.ts';

/**
 * Immutable account: a write creates a new object, so readers of older slots are not affected. Source:
 * solana-account, `struct Account`.
 */
export type Account = Readonly<{
  lamports: Lamports;
  data: Uint8Array;
  owner: Address;
  executable: boolean;
  /** u64; 18446744073709551615 for every rent-exempt account. */
  rentEpoch: bigint;
}>;
