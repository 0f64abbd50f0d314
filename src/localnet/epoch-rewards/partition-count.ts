/** Stake accounts that one block pays. Source: agave, `stake_account_stores_per_block`. */
const ACCOUNTS_PER_BLOCK = 4096n;
/** The part of an epoch that paying may take: a tenth. */
const EPOCH_PARTS = 10n;

/** Blocks over which an epoch's stakes are paid, at least 1. Source: agave, `get_reward_distribution_num_blocks`. */
export function partitionCount(stakeCount: number, slotsPerEpoch: bigint): bigint {
  const wanted = (BigInt(stakeCount) + ACCOUNTS_PER_BLOCK - 1n) / ACCOUNTS_PER_BLOCK;
  const most = slotsPerEpoch / EPOCH_PARTS;
  if (wanted < 1n || most < 1n) return 1n;
  return wanted < most ? wanted : most;
}
