import type { Epoch } from '../ledger/units.ts';
import type { Genesis } from './node.ts';

/** Fractions of one, per year. Source: solana-inflation `Inflation::full`, what mainnet runs. */
export const inflation = { initial: 0.08, terminal: 0.015, taper: 0.15, foundation: 0, foundationTerm: 0 };

const SECONDS_PER_YEAR = 365.242199 * 24 * 60 * 60;

/** Years between genesis and the start of an epoch, by the nominal length of a slot. */
function yearsAt({ epochSchedule, slotMs }: Genesis, epoch: Epoch): number {
  const slotsPerYear = SECONDS_PER_YEAR / (slotMs / 1000);
  return Number(epoch * epochSchedule.slotsPerEpoch) / slotsPerYear;
}

/** The yearly rate in an epoch; all of it goes to validators. Source: solana-inflation `total`. */
export const inflationRate = (genesis: Genesis, epoch: Epoch): number =>
  Math.max(inflation.terminal, inflation.initial * (1 - inflation.taper) ** yearsAt(genesis, epoch));
