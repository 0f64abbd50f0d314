import type { Float64, JsonValue } from '../../base/json.ts';
import type { Epoch } from '../../solana/units.ts';
import { noParameters } from './parameters.ts';

export type GetInflationRateParams = null;
/** Inflation of the current epoch, as fractions of one per year. */
export type GetInflationRateResult = Readonly<{
  epoch: Epoch;
  foundation: Float64;
  total: Float64;
  validator: Float64;
}>;

/** No parameters. */
export function parseGetInflationRate(params: JsonValue | undefined): GetInflationRateParams {
  noParameters(params);
  return null;
}
