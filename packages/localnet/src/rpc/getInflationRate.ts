import { Float64, type JsonValue } from '../../../../src/base/json.ts';
import {
  type GetInflationRateResult,
  parseGetInflationRate,
} from '../../../../src/protocol/rpc/getInflationRate.ts';
import { inflationRate } from '../bank/inflation.ts';
import type { LocalNode } from '../node.ts';

/** Inflation of the finalized bank's epoch. */
export function getInflationRate(node: LocalNode, params: JsonValue | undefined): GetInflationRateResult {
  parseGetInflationRate(params);
  const { epoch } = node.bank('finalized');
  const { foundation, total, validator } = inflationRate(node.genesis, epoch);
  return {
    epoch,
    foundation: new Float64(foundation),
    total: new Float64(total),
    validator: new Float64(validator),
  };
}
