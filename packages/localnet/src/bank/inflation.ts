import type { Epoch } from '../../../../src/solana/units.ts';
import type { Genesis } from '../node.ts';

/**
 * Yearly rates. `foundation` is a fraction of the total for `foundationTerm` years. Source: solana-inflation
 * `Inflation::default`, as in solana-test-validator's genesis.
 */
export const inflation = { initial: 0.08, terminal: 0.015, taper: 0.15, foundation: 0.05, foundationTerm: 7 };

const SECONDS_PER_YEAR = 365.242199 * 24 * 60 * 60;
/** 6.25 ms per tick. Source: solana-poh-config. */
const TICKS_PER_SECOND = 1_000_000_000 / 6_250_000;

type Times = Pick<Genesis, 'epochSchedule' | 'ticksPerSlot'>;

const slotsPerYear = ({ ticksPerSlot }: Times): number =>
  (SECONDS_PER_YEAR * TICKS_PER_SECOND) / ticksPerSlot;

/** Years from genesis to the start of an epoch. */
const yearsAt = (genesis: Times, epoch: Epoch): number =>
  Number(epoch * genesis.epochSchedule.slotsPerEpoch) / slotsPerYear(genesis);

/** Source: agave runtime/src/bank.rs, `epoch_duration_in_years`. */
export const epochYears = (genesis: Times): number =>
  Number(genesis.epochSchedule.slotsPerEpoch) / slotsPerYear(genesis);

type InflationRate = Readonly<{ total: number; validator: number; foundation: number }>;

/** Source: solana-inflation `total`, `validator`, `foundation`. */
export function inflationRate(genesis: Times, epoch: Epoch): InflationRate {
  const years = yearsAt(genesis, epoch);
  const total = Math.max(inflation.terminal, inflation.initial * (1 - inflation.taper) ** years);
  const foundation = years < inflation.foundationTerm ? total * inflation.foundation : 0;
  return { total, validator: total - foundation, foundation };
}
