import { Float64, type JsonValue } from '../../../../src/base/json.ts';
import { positional, readStrictCommitment } from '../../../../src/protocol/rpc/parameters.ts';
import { inflation } from '../bank/inflation.ts';
import type { LocalNode } from '../node.ts';

/** Yearly rates; `foundation` is a fraction of the total, `foundationTerm` in years. */
type GetInflationGovernorResult = Readonly<{
  foundation: Float64;
  foundationTerm: Float64;
  initial: Float64;
  taper: Float64;
  terminal: Float64;
}>;

/** `{commitment}`; the config is strict. */
export const parseGetInflationGovernor = (params: JsonValue | undefined) => ({
  commitment: readStrictCommitment(positional(params, 0, 1)[0]),
});

/** Inflation parameters by which the ledger pays stakes. */
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
