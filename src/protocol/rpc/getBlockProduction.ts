import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { type Slot, slot } from '../../solana/units.ts';
import type { Commitment } from '../commitment.ts';
import { configObject, lenientCommitment, positional, readAddress } from './parameters.ts';
import { member, optional, readPlainStruct, readString, readU64, required } from './serde.ts';

export type SlotRange = Readonly<{ firstSlot: Slot; lastSlot: Slot | null }>;
export type GetBlockProductionParams = Readonly<{
  /** Only this leader; null for all. */
  identity: Address | null;
  /** null for the bank's epoch. */
  range: SlotRange | null;
  commitment: Commitment;
}>;
/** Inside a context: by leader, the slots it led and the blocks it made in them. */
export type GetBlockProductionResult = Readonly<{
  byIdentity: Readonly<Record<string, readonly [leaderSlots: bigint, blocks: bigint]>>;
  range: Readonly<{ firstSlot: Slot; lastSlot: Slot }>;
}>;

function readRange(value: JsonValue): SlotRange {
  const range = readPlainStruct(value, 'RpcBlockProductionConfigRange', ['firstSlot', 'lastSlot']);
  const last = optional(member(range, 'lastSlot'), readU64);
  return {
    firstSlot: slot(required(range, 'firstSlot', readU64)),
    lastSlot: last === null ? null : slot(last),
  };
}

/** `{identity, range: {firstSlot, lastSlot}, commitment}`. */
export function parseGetBlockProduction(params: JsonValue | undefined): GetBlockProductionParams {
  const config = configObject(positional(params, 0, 1)[0], 'RpcBlockProductionConfig');
  const identity = optional(member(config, 'identity'), readString);
  const range = optional(member(config, 'range'), readRange);
  return {
    identity: identity === null ? null : readAddress(identity),
    range,
    commitment: lenientCommitment(config),
  };
}
