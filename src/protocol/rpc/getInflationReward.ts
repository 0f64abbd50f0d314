import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { type Epoch, epoch, type Lamports, type Slot } from '../../solana/units.ts';
import { at, type ContextConfig, configObject, contextOf, positional, readAddress } from './parameters.ts';
import { member, optional, readStrings, readU64 } from './serde.ts';

export type GetInflationRewardParams = Readonly<{
  addresses: readonly Address[];
  /** The epoch that was paid; null for the last one that is over. */
  epoch: Epoch | null;
  config: ContextConfig;
}>;
/** What each address was paid; null for nothing. */
export type GetInflationRewardResult = readonly (Readonly<{
  amount: bigint;
  /** Percent, u8. A node with SIMD-0291 on has null here and a member `commissionBps` instead. */
  commission: number | null;
  effectiveSlot: Slot;
  epoch: Epoch;
  postBalance: Lamports;
}> | null)[];

/**
 * `[addresses], {epoch, commitment, minContextSlot}`. Nothing but the body's size bounds the addresses: Agave's limit
 * of 32 came with 4.3.
 */
export function parseGetInflationReward(params: JsonValue | undefined): GetInflationRewardParams {
  const list = positional(params, 1, 2);
  const texts = at(list, 0, readStrings);
  const config = configObject(list[1], 'RpcEpochConfig');
  const wanted = optional(member(config, 'epoch'), readU64);
  const context = contextOf(config);
  return {
    addresses: texts.map(readAddress),
    epoch: wanted === null ? null : epoch(wanted),
    config: context,
  };
}
