import type { JsonValue } from '../../base/json.ts';

import { noParameters } from './parameters.ts';

export type GetHealthParams = null;
/** An unhealthy node answers -32005 instead. */
export type GetHealthResult = 'ok';

/** No parameters. */
export function parseGetHealth(params: JsonValue | undefined): GetHealthParams {
  noParameters(params);
  return null;
}
