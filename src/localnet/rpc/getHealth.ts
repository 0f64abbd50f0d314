import type { JsonValue } from '../../base/json.ts';
import { type GetHealthResult, parseGetHealth } from '../../protocol/rpc/getHealth.ts';
import type { LocalNode } from '../node.ts';

/** A ledger that makes its own slots is never behind. */
export function getHealth(_node: LocalNode, params: JsonValue | undefined): GetHealthResult {
  parseGetHealth(params);
  return 'ok';
}
