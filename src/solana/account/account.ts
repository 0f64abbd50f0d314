import type { Address } from '../address.ts';
import type { Lamports } from '../units.ts';

/**
 * Immutable account: a write makes a new object, so that readers of older slots keep theirs. Source:
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
