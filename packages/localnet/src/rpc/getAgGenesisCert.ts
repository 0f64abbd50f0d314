import type { JsonValue } from '../../../../src/base/json.ts';
import { noParameters } from '../../../../src/protocol/rpc/parameters.ts';
import type { LocalNode } from '../node.ts';

/** The certificate of the first Alpenglow block; null before the chain has moved to Alpenglow. Since Agave 4.3. */
type GetAgGenesisCertResult = Readonly<{
  block: Readonly<{ blockId: readonly number[]; slot: bigint }>;
  signature: Readonly<{ bitmap: readonly number[]; signature: readonly number[] }>;
}> | null;

/** Always null: the ledger does not use Alpenglow. */
export function getAgGenesisCert(_node: LocalNode, params: JsonValue | undefined): GetAgGenesisCertResult {
  noParameters(params);
  return null;
}
