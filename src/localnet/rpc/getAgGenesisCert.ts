import type { JsonValue } from '../../base/json.ts';
import { type GetAgGenesisCertResult, parseGetAgGenesisCert } from '../../protocol/rpc/getAgGenesisCert.ts';
import type { LocalNode } from '../node.ts';

/** null: the ledger votes as before Alpenglow, and has not moved to it. */
export function getAgGenesisCert(_node: LocalNode, params: JsonValue | undefined): GetAgGenesisCertResult {
  parseGetAgGenesisCert(params);
  return null;
}
