import type { JsonValue } from '../../base/json.ts';
import type { Slot } from '../../solana/units.ts';
import { noParameters } from './parameters.ts';

export type GetMaxShredInsertSlotParams = null;
/** The highest slot of which the node has shreds. */
export type GetMaxShredInsertSlotResult = Slot;

/** No parameters. */
export function parseGetMaxShredInsertSlot(params: JsonValue | undefined): GetMaxShredInsertSlotParams {
  noParameters(params);
  return null;
}
