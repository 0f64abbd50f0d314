import type { Account } from '../../solana/account/account.ts';
import { sysvarOwner } from '../../solana/programs.ts';
import { encodeStakeHistory, STAKE_HISTORY_BYTES, type StakeHistoryEntry } from '../../solana/sysvars.ts';
import { U64_MAX } from '../../solana/units.ts';
import { rentExemptMinimum } from './sysvar-accounts.ts';

/** The sysvar as an account. @param entries - newest first. */
export const stakeHistoryAccount = (entries: readonly StakeHistoryEntry[]): Account => ({
  lamports: rentExemptMinimum(STAKE_HISTORY_BYTES),
  data: encodeStakeHistory(entries),
  owner: sysvarOwner,
  executable: false,
  rentEpoch: U64_MAX,
});
