import { RpcError } from '../../protocol/rpc-error.ts';
import type { LocalNode } from '../node.ts';

/** @throws RpcError -32005 once the ledger has halted: what it took now would be lost. */
export function requireHealthy(node: LocalNode): void {
  if (node.failure) throw new RpcError(-32005, 'Node is unhealthy', { numSlotsBehind: null });
}

/** -32603, which callers and gateways may answer by asking another node, or this one later. */
export const queueFull = (): RpcError =>
  new RpcError(-32603, 'Too many transactions wait for a block with room; send it again later');
