import type { JsonValue } from '../../../../src/base/json.ts';
import {
  at,
  type ContextConfig,
  contextOf,
  positional,
  readContextConfig,
  requireConfirmed,
} from '../../../../src/protocol/rpc/parameters.ts';
import { readU64, serdeFault } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams, RpcError } from '../../../../src/protocol/rpc-error.ts';
import { type Slot, slot } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

/** The second parameter: an end slot or already the config. serde forgets why neither fits. */
function readEndOrConfig(value: JsonValue | undefined): { end: Slot | null; config: ContextConfig | null } {
  if (value === undefined || value === null) return { end: null, config: null };
  try {
    if (typeof value !== 'object') return { end: slot(readU64(value)), config: null };
    if (!Array.isArray(value)) return { end: null, config: contextOf(value) };
  } catch (fault) {
    if (!(fault instanceof RpcError)) throw fault;
  }
  throw serdeFault('data did not match any variant of untagged enum RpcBlocksConfigWrapper');
}

/** `start, end | config, {commitment, minContextSlot}`; the third parameter wins over the second. */
export function parseGetBlocks(params: JsonValue | undefined) {
  const list = positional(params, 1, 3);
  const start = slot(at(list, 0, readU64));
  const second = readEndOrConfig(list[1]);
  const third = list[2] === undefined || list[2] === null ? null : readContextConfig(list[2]);
  return { start, end: second.end, config: third ?? second.config ?? readContextConfig(undefined) };
}

/** Slots in `[start, last]`, at most `limit`. No slot is skipped. */
export function blockSlots(node: LocalNode, start: Slot, last: bigint, limit?: bigint): Slot[] {
  const { firstAvailableSlot } = node.history;
  const slots: Slot[] = [];
  for (let at: bigint = start > firstAvailableSlot ? start : firstAvailableSlot; at <= last; at++) {
    if (limit !== undefined && slots.length >= limit) break;
    slots.push(slot(at));
  }
  return slots;
}

const RANGE_MAX = 500_000n;

export function getBlocks(node: LocalNode, params: JsonValue | undefined): readonly Slot[] {
  const { start, end, config } = parseGetBlocks(params);
  requireConfirmed(config.commitment);
  const tip = bankFor(node, config).slot;
  const wanted = end ?? start + RANGE_MAX;
  const last = wanted < tip ? wanted : tip;
  if (last - start > RANGE_MAX) throw invalidParams(`Slot range too large; max ${RANGE_MAX}`);
  return blockSlots(node, start, last);
}
