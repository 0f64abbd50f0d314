import type { Tally } from '../figures/tally.ts';
import type { Outcome } from '../report/outcome.ts';
import type { Pace } from './pace.ts';

/** The slots in which all was under load, the first and the last, for who holds against them what was told. */
export type Stretch = Readonly<{
  started: number;
  stopped: number;
  /** Whether processes waited for processors that others had. */
  wasStarved: boolean;
}>;

/** A door of the service, or a kind of stream, with those who use it. */
export interface Surface {
  readonly tallies: readonly Tally[];
  /** Begins what is asked again and again. */
  start(): readonly Pace[];
  /** Holds what was told against the ledger, when nothing is asked any more. */
  check(stretch: Stretch): Promise<readonly Outcome[]>;
  /** Ends whatever is open. */
  close(): void;
}
