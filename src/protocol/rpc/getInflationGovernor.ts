import type { Float64, JsonValue } from '../../base/json.ts';
import type { Commitment } from '../commitment.ts';
import { positional, readStrictCommitment } from './parameters.ts';

export type GetInflationGovernorParams = Readonly<{ commitment: Commitment }>;
/** Fractions of one per year; the foundation's is a fraction of the total, its term is in years. */
export type GetInflationGovernorResult = Readonly<{
  foundation: Float64;
  foundationTerm: Float64;
  initial: Float64;
  taper: Float64;
  terminal: Float64;
}>;

/** `{commitment}`; the config is strict. */
export const parseGetInflationGovernor = (params: JsonValue | undefined): GetInflationGovernorParams => ({
  commitment: readStrictCommitment(positional(params, 0, 1)[0]),
});
