import type { JsonValue } from '../../base/json.ts';

import { noParameters } from './parameters.ts';

export type GetVersionParams = null;
/** The software of the node. */
export type GetVersionResult = Readonly<{
  'feature-set': number;
  'solana-core': string;
}>;

/** No parameters. */
export function parseGetVersion(params: JsonValue | undefined): GetVersionParams {
  noParameters(params);
  return null;
}
