import type { JsonValue } from '../../base/json.ts';
import type { Slot } from '../../solana/units.ts';
import { noParameters } from './parameters.ts';

export type GetMaxRetransmitSlotParams = null;
/** The highest slot that the node has passed on to others. */
export type GetMaxRetransmitSlotResult = Slot;

/** No parameters. */
export function parseGetMaxRetransmitSlot(params: JsonValue | undefined): GetMaxRetransmitSlotParams {
  noParameters(params);
  return null;
}
