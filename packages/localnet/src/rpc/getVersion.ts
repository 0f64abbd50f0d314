import type { JsonValue } from '../../../../src/base/json.ts';
import { type GetVersionResult, parseGetVersion } from '../../../../src/protocol/rpc/getVersion.ts';
import type { LocalNode } from '../node.ts';
import { FEATURE_SET, VERSION } from '../version.ts';

export function getVersion(_node: LocalNode, params: JsonValue | undefined): GetVersionResult {
  parseGetVersion(params);
  return { 'feature-set': FEATURE_SET, 'solana-core': VERSION };
}
