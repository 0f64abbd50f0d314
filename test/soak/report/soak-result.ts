import type { Setting } from '../../../bench/results.ts';
import type { ProcessFigures } from '../figures/process-watch.ts';
import type { ServiceGauges } from '../figures/service-gauges.ts';
import type { TallyFigures } from '../figures/tally.ts';
import type { Outcome } from './outcome.ts';

/** What is asked of a surface, a second. */
export type Load = Readonly<{ name: string; perSecond: number; leftOut: number }>;

/** What the service logged at `info` and above: how often each thing was said, and what stood beside it last. */
export type Logged = Readonly<{ level: string; message: string; times: number; last: string }>;

/** Everything that a run found: what `--json` prints and the page shows. */
export type SoakResult = Setting &
  Readonly<{
    /** ISO 8601. */
    begunAt: string;
    /** Under load. */
    seconds: number;
    slots: number;
    /** What was opened beside what is asked, in words. */
    held: string;
    load: readonly Load[];
    outcomes: readonly Outcome[];
    tallies: readonly TallyFigures[];
    processes: readonly ProcessFigures[];
    gauges: readonly ServiceGauges[];
    logged: readonly Logged[];
  }>;
