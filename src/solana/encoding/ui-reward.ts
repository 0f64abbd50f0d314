import type { WritableJson } from '../../base/json.ts';
import type { BlockReward } from '../block-reward.ts';

/** What a block or a transaction paid, members in wire order; null when it was not recorded. */
export function encodeRewards(rewards: readonly BlockReward[] | null): WritableJson {
  return (
    rewards?.map(({ commission, lamports, postBalance, pubkey, rewardType }) => ({
      commission,
      lamports,
      postBalance,
      pubkey,
      rewardType,
    })) ?? null
  );
}
