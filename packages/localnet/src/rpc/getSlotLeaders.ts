import type { JsonValue } from '../../../../src/base/json.ts';
import { at, exactly } from '../../../../src/protocol/rpc/parameters.ts';
import { readU64 } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { slot } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { requireSchedules } from './leader-schedule.ts';

/** Source: Agave `MAX_GET_SLOT_LEADERS`. */
const SLOT_LEADERS_MAX = 5000;

/** `startSlot, limit`; both are required. */
export function parseGetSlotLeaders(params: JsonValue | undefined) {
  const list = exactly(params, 2, readU64);
  const startSlot = slot(at(list, 0, readU64));
  const limit = at(list, 1, readU64);
  if (limit > BigInt(SLOT_LEADERS_MAX)) throw invalidParams(`Invalid limit; max ${SLOT_LEADERS_MAX}`);
  return { startSlot, limit: Number(limit) };
}

/** @throws RpcError -32602 beyond the known epochs. */
export function getSlotLeaders(node: LocalNode, params: JsonValue | undefined): readonly Address[] {
  const { startSlot, limit } = parseGetSlotLeaders(params);
  if (limit === 0) return [];
  requireSchedules(node, startSlot, BigInt(limit));
  const { identity } = node.genesis;
  return Array<typeof identity>(limit).fill(identity);
}
