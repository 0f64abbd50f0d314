import { bounds } from './outages.ts';

/** What was measured of keys that changed, in milliseconds each. */
export type KeyFigures = Readonly<{
  minutes: number;
  /** From a change until both gateways acted on it, with the database there; sorted. */
  delays: readonly number[];
  /** From the end of a key until a connection of it was closed, with the database there; sorted. */
  closing: readonly number[];
  /** Changes of limits that were followed. */
  limitChanges: number;
  /** Calls that the limit which is asked too much let in, and the least and most that it may. */
  accepted: number;
  least: number;
  most: number;
}>;

/** Fewer than so many a minute say nothing of a p99, nor of anything else. */
const SAMPLES_PER_MINUTE = 20;

/** The value below which that part of sorted numbers lies; NaN of none. */
export const share = (sorted: readonly number[], part: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN);

/** What does not hold of what was measured, also that too little was. */
export function faultsOf(figures: KeyFigures): string[] {
  const { minutes, delays, closing, limitChanges, accepted, least, most } = figures;
  const faults: string[] = [];
  const samples = Math.ceil(SAMPLES_PER_MINUTE * minutes);
  const judge = (what: string, sorted: readonly number[]): void => {
    const p99 = share(sorted, 0.99);
    if (sorted.length < samples) faults.push(`${what}: measured ${sorted.length} times, not ${samples}`);
    else if (p99 > bounds.usual) faults.push(`${what}: after ${p99} ms at p99, not ${bounds.usual}`);
  };
  judge('changes in force', delays);
  judge('connections of revoked keys closed', closing);
  if (limitChanges === 0) faults.push('no change of a limit was followed');
  if (accepted > most) faults.push(`a limit let ${accepted} calls in, and ${most} are the most`);
  if (accepted < least) faults.push(`a limit let ${accepted} calls in, and ${least} are the least`);
  return faults;
}
