import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetHighestSnapshotSlotResult,
  parseGetHighestSnapshotSlot,
} from '../../../../src/protocol/rpc/getHighestSnapshotSlot.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { LocalNode } from '../node.ts';

/** Full snapshots only. @throws RpcError -32008 for none. */
export function getHighestSnapshotSlot(
  node: LocalNode,
  params: JsonValue | undefined,
): GetHighestSnapshotSlotResult {
  parseGetHighestSnapshotSlot(params);
  const full = node.snapshotSlot();
  if (full === null) throw new RpcError(-32008, 'No snapshot');
  return { full, incremental: null };
}
