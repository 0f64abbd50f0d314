import type { JsonValue } from '../../../../src/base/json.ts';
import { noParameters } from '../../../../src/protocol/rpc/parameters.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { Slot } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';

/** Slots of the newest snapshots; `incremental` is null if none is based on the full one. */
type GetHighestSnapshotSlotResult = Readonly<{ full: Slot; incremental: Slot | null }>;

/** Full snapshots only. @throws RpcError -32008 if there is none. */
export function getHighestSnapshotSlot(
  node: LocalNode,
  params: JsonValue | undefined,
): GetHighestSnapshotSlotResult {
  noParameters(params);
  const full = node.snapshotSlot();
  if (full === null) throw new RpcError(-32008, 'No snapshot');
  return { full, incremental: null };
}
