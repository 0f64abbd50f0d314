import { Float64, type JsonValue } from '../../../../src/base/json.ts';
import { noParameters } from '../../../../src/protocol/rpc/parameters.ts';
import type { Epoch } from '../../../../src/solana/units.ts';
import { inflationRate } from '../bank/inflation.ts';
import type { LocalNode } from '../node.ts';

/** Inflation of the current epoch, as fractions of one per year. */
type GetInflationRateResult = Readonly<{
  epoch: Epoch;
  foundation: Float64;
  total: Float64;
  validator: Float64;
}>;

/** Inflation of the finalized bank's epoch. */
export function getInflationRate(node: LocalNode, params: JsonValue | undefined): GetInflationRateResult {
  noParameters(params);
  const { epoch } = node.bank('finalized');
  const { foundation, total, validator } = inflationRate(node.genesis, epoch);
  return {
    epoch,
    foundation: new Float64(foundation),
    total: new Float64(total),
    validator: new Float64(validator),
  };
}
