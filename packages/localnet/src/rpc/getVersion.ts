import type { JsonValue } from '../../../../src/base/json.ts';
import { noParameters } from '../../../../src/protocol/rpc/parameters.ts';
import type { LocalNode } from '../node.ts';
import { FEATURE_SET, VERSION } from '../version.ts';

/** The software of the node. */
type GetVersionResult = Readonly<{
  'feature-set': number;
  'solana-core': string;
}>;

export function getVersion(_node: LocalNode, params: JsonValue | undefined): GetVersionResult {
  noParameters(params);
  return { 'feature-set': FEATURE_SET, 'solana-core': VERSION };
}
