import type { JsonValue } from '../../base/json.ts';
import { noParameters } from './parameters.ts';

export type GetAgGenesisCertParams = null;
/** The certificate of the first Alpenglow block; null before the chain has moved to Alpenglow. Since Agave 4.3. */
export type GetAgGenesisCertResult = Readonly<{
  block: Readonly<{ blockId: readonly number[]; slot: bigint }>;
  signature: Readonly<{ bitmap: readonly number[]; signature: readonly number[] }>;
}> | null;

/** No parameters. */
export function parseGetAgGenesisCert(params: JsonValue | undefined): GetAgGenesisCertParams {
  noParameters(params);
  return null;
}
