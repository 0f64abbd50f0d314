import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import type { Commitment } from '../../../../src/protocol/commitment.ts';
import {
  configObject,
  lenientCommitment,
  positional,
  readAddress,
} from '../../../../src/protocol/rpc/parameters.ts';
import {
  member,
  optional,
  readPlainStruct,
  readString,
  readU64,
  required,
} from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { SLOT_HISTORY_MAX } from '../../../../src/solana/sysvars.ts';
import { type Slot, slot } from '../../../../src/solana/units.ts';
import type { Bank, LocalNode } from '../node.ts';
import { withContext } from './context.ts';
import { requireSchedules } from './leader-schedule.ts';

type SlotRange = Readonly<{ firstSlot: Slot; lastSlot: Slot | null }>;
type GetBlockProductionParams = Readonly<{
  /** Only this leader; null for all. */
  identity: Address | null;
  /** null for the bank's epoch. */
  range: SlotRange | null;
  commitment: Commitment;
}>;
/** Inside a context: by leader, the slots it led and the blocks it made in them. */
type GetBlockProductionResult = Readonly<{
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

type Range = GetBlockProductionResult['range'];

/** Requested range, or the bank's epoch so far. */
function wantedRange(range: SlotRange | null, bank: Bank, slotsPerEpoch: bigint): Range {
  if (range === null) return { firstSlot: slot(bank.epoch * slotsPerEpoch), lastSlot: bank.slot };
  const { firstSlot, lastSlot = null } = range;
  const last = lastSlot ?? bank.slot;
  if (last < firstSlot) {
    throw invalidParams(`lastSlot, ${last}, cannot be less than firstSlot, ${firstSlot}`);
  }
  return { firstSlot, lastSlot: last };
}

/** @throws RpcError -32602 beyond the slot history. */
function requireKnown({ firstSlot, lastSlot }: Range, newest: Slot): void {
  const oldest = newest < BigInt(SLOT_HISTORY_MAX) ? 0n : newest + 1n - BigInt(SLOT_HISTORY_MAX);
  if (firstSlot < oldest) throw invalidParams(`firstSlot, ${firstSlot}, is too small; min ${oldest}`);
  if (lastSlot > newest) throw invalidParams(`lastSlot, ${lastSlot}, is too large; max ${newest}`);
}

/** The node leads every slot, and every slot has a block. */
export function getBlockProduction(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const wanted = parseGetBlockProduction(params);
  const bank = node.bank(wanted.commitment);
  const { identity, epochSchedule } = node.genesis;
  const range = wantedRange(wanted.range, bank, epochSchedule.slotsPerEpoch);
  requireKnown(range, bank.slot);
  const count = range.lastSlot - range.firstSlot + 1n;
  requireSchedules(node, range.firstSlot, count);
  const isRequested = wanted.identity === null || wanted.identity === identity;
  const value: GetBlockProductionResult = {
    byIdentity: isRequested ? { [identity]: [count, count] } : {},
    range,
  };
  return withContext(bank, value);
}
