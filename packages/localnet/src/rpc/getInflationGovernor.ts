import { Float64, type JsonValue } from '../../../../src/base/json.ts';
import {
  type GetInflationGovernorResult,
  parseGetInflationGovernor,
} from '../../../../src/protocol/rpc/getInflationGovernor.ts';
import { inflation } from '../bank/inflation.ts';
import type { LocalNode } from '../node.ts';

/** The rules by which the ledger pays its stakes. */
export function getInflationGovernor(
  _node: LocalNode,
  params: JsonValue | undefined,
): GetInflationGovernorResult {
  parseGetInflationGovernor(params);
  return {
    foundation: new Float64(inflation.foundation),
    foundationTerm: new Float64(inflation.foundationTerm),
    initial: new Float64(inflation.initial),
    taper: new Float64(inflation.taper),
    terminal: new Float64(inflation.terminal),
  };
}
