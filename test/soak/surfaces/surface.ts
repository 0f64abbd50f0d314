import type { Tally } from '../figures/tally.ts';
import type { Outcome } from '../report/outcome.ts';
import type { Pace } from './pace.ts';

/** First and last slot under load, for comparisons. */
export type Stretch = Readonly<{
  started: number;
  stopped: number;
  /** Whether processes waited for processors. */
  wasStarved: boolean;
}>;

/** An interface of the service with its clients. */
export interface Surface {
  readonly tallies: readonly Tally[];
  /** Starts the load. */
  start(): readonly Pace[];
  /** Compares notifications with the ledger after the load. */
  check(stretch: Stretch): Promise<readonly Outcome[]>;
  /** Closes all clients. */
  close(): void;
}
