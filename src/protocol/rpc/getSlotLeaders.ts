import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { invalidParams } from '../rpc-error.ts';
import { at, exactly } from './parameters.ts';
import { readU64 } from './serde.ts';

/** Source: Agave `MAX_GET_SLOT_LEADERS`. */
export const SLOT_LEADERS_MAX = 5000;

export type GetSlotLeadersParams = Readonly<{ startSlot: Slot; limit: number }>;
/** The leader of each slot from `startSlot` on. */
export type GetSlotLeadersResult = readonly Address[];

/** `startSlot, limit`; both are required. */
export function parseGetSlotLeaders(params: JsonValue | undefined): GetSlotLeadersParams {
  const list = exactly(params, 2);
  const startSlot = slot(at(list, 0, readU64));
  const limit = at(list, 1, readU64);
  if (limit > BigInt(SLOT_LEADERS_MAX)) throw invalidParams(`Invalid limit; max ${SLOT_LEADERS_MAX}`);
  return { startSlot, limit: Number(limit) };
}
