import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetAgGenesisCertResult,
  parseGetAgGenesisCert,
} from '../../../../src/protocol/rpc/getAgGenesisCert.ts';
import type { LocalNode } from '../node.ts';

/** null: the ledger uses the votes before Alpenglow. */
export function getAgGenesisCert(_node: LocalNode, params: JsonValue | undefined): GetAgGenesisCertResult {
  parseGetAgGenesisCert(params);
  return null;
}
