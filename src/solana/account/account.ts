import type { Address } from '../address.ts';
import type { Lamports } from '../units.ts';

/**
 * An account as the ledger holds it. `data` is never modified after the account was made: a new version is a
 * new object, so that readers of older slots keep theirs. Source: solana-account, `struct Account`.
 */
export type Account = Readonly<{
  lamports: Lamports;
  data: Uint8Array;
  owner: Address;
  executable: boolean;
  /** u64; 18446744073709551615 for every rent-exempt account. */
  rentEpoch: bigint;
}>;
