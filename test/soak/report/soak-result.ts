import type { Setting } from '../../../bench/results.ts';
import type { ProcessFigures } from '../figures/process-watch.ts';
import type { TallyFigures } from '../figures/tally.ts';
import type { Outcome } from './outcome.ts';

/** Requests per second to an interface. */
export type Load = Readonly<{ name: string; perSecond: number; skipped: number }>;

/** Log messages at `info` and above: how often each was logged, and its last details. */
export type Logged = Readonly<{ level: string; message: string; times: number; last: string }>;

/** What the service reported about itself at a moment, besides its memory. */
export type ServiceGauges = Readonly<{
  second: number;
  websockets: number;
  streams: number;
  queuedBytes: number;
}>;

/** The result of a run. */
export type SoakResult = Setting &
  Readonly<{
    /** ISO 8601. */
    begunAt: string;
    /** Under load. */
    seconds: number;
    slots: number;
    /** Subscriptions besides the load, as text. */
    held: string;
    load: readonly Load[];
    outcomes: readonly Outcome[];
    tallies: readonly TallyFigures[];
    processes: readonly ProcessFigures[];
    gauges: readonly ServiceGauges[];
    logged: readonly Logged[];
  }>;
