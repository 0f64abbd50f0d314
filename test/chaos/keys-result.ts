import { bounds } from './outages.ts';

/** Measurements of key changes, in milliseconds. */
export type KeyFigures = Readonly<{
  minutes: number;
  /** From a change until both gateways acted on it, without outages of the database; sorted. */
  delays: readonly number[];
  /** From the revocation of a key until its connection was closed, without outages of the database; sorted. */
  closing: readonly number[];
  /** Changes of limits that were checked. */
  limitChanges: number;
  /** Accepted calls of a key that exceeds its limit, and the allowed range. */
  accepted: number;
  least: number;
  most: number;
}>;

/** Fewer samples per minute are not enough. */
const SAMPLES_PER_MINUTE = 20;

/** Quantile of sorted numbers; NaN for none. */
export const share = (sorted: readonly number[], part: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN);

/** Faults in the measurements, including too few samples. */
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
  if (limitChanges === 0) faults.push('no change of a limit was checked');
  if (accepted > most) faults.push(`${accepted} calls accepted, at most ${most} allowed`);
  if (accepted < least) faults.push(`${accepted} calls accepted, at least ${least} required`);
  return faults;
}
