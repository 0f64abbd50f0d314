import type { JsonValue } from '../../../../src/base/json.ts';
import { noParameters } from '../../../../src/protocol/rpc/parameters.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { LocalNode } from '../node.ts';

/** @throws RpcError -32005 when the ledger has halted. */
export function requireHealthy(node: LocalNode): void {
  if (node.failure) throw new RpcError(-32005, 'Node is unhealthy', { numSlotsBehind: null });
}

/** Code -32603 makes clients retry or use another node. */
export const queueFull = (): RpcError =>
  new RpcError(-32603, 'Too many transactions are waiting for block capacity; retry later');

/** The ledger is never behind. @throws RpcError -32005 when the ledger has halted. */
export function getHealth(node: LocalNode, params: JsonValue | undefined): 'ok' {
  noParameters(params);
  requireHealthy(node);
  return 'ok';
}
