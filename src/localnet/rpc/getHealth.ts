import type { JsonValue } from '../../base/json.ts';
import { type GetHealthResult, parseGetHealth } from '../../protocol/rpc/getHealth.ts';
import type { LocalNode } from '../node.ts';
import { requireHealthy } from './health.ts';

/** A ledger that makes its own slots is never behind. @throws RpcError -32005 when it makes no more. */
export function getHealth(node: LocalNode, params: JsonValue | undefined): GetHealthResult {
  parseGetHealth(params);
  requireHealthy(node);
  return 'ok';
}
