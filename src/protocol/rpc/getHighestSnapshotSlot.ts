import type { JsonValue } from '../../base/json.ts';
import type { Slot } from '../../solana/units.ts';
import { noParameters } from './parameters.ts';

export type GetHighestSnapshotSlotParams = null;
/** Slots of the newest snapshots; `incremental` is null where there is none upon the full one. */
export type GetHighestSnapshotSlotResult = Readonly<{ full: Slot; incremental: Slot | null }>;

/** No parameters. */
export function parseGetHighestSnapshotSlot(params: JsonValue | undefined): GetHighestSnapshotSlotParams {
  noParameters(params);
  return null;
}
