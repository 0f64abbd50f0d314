import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  type GetBlockProductionResult,
  parseGetBlockProduction,
  type SlotRange,
} from '../../../../src/protocol/rpc/getBlockProduction.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import { SLOT_HISTORY_MAX } from '../../../../src/solana/sysvars.ts';
import { type Slot, slot } from '../../../../src/solana/units.ts';
import type { Bank, LocalNode } from '../node.ts';
import { withContext } from './context.ts';
import { requireSchedules } from './leader-schedule.ts';

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
