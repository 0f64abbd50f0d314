import { createHistogram } from 'node:perf_hooks';
import type { FaultHistory, NodeFault } from '../nodes/fault-history.ts';

export type CompletedRequest = Readonly<{
  /** Protocol, session or transaction. */
  kind: string;
  what: string;
  startedAt: number;
  endedAt: number;
  /** What is wrong with the response; null if it is correct. */
  fault: string | null;
  /** Whether a streamed response was incomplete. */
  isBrokenOff?: boolean;
}>;

const REPORTED_MAX = 100;
/** Longer than any request or transaction takes. */
const RETENTION_MS = 180_000;

class Counts {
  answerable = 0;
  good = 0;
  /** Requests without a healthy node, and those of them with a correct response. */
  others = 0;
  othersGood = 0;
  brokenOff = 0;
  /** Latencies of answerable requests, in milliseconds. */
  readonly times = createHistogram();

  get share(): number {
    return this.answerable === 0 ? 1 : this.good / this.answerable;
  }

  summary() {
    const { answerable, good, others, othersGood, brokenOff, times } = this;
    const [p50, p99, p999] = [50, 99, 99.9].map((percent) => times.percentile(percent));
    const failed = answerable - good;
    return { answerable, good, failed, others, othersGood, brokenOff, p50, p99, p999 };
  }
}

/** Compares the outcomes of requests with the faults of nodes, and reports each failure with the concurrent faults. */
export class FaultChecker {
  readonly broken: string[] = [];
  /** Number of violations, including those not reported. */
  brokenCount = 0;
  readonly tallies = new Map<string, Counts>();
  readonly faultsDuring = new Map<NodeFault, number>();
  readonly faultHistory: FaultHistory;
  readonly #say: (text: string) => void;
  #failed = 0;

  constructor(faultHistory: FaultHistory, say: (text: string) => void) {
    this.faultHistory = faultHistory;
    this.#say = say;
  }

  note({ kind, what, startedAt, endedAt, fault, isBrokenOff = false }: CompletedRequest): void {
    const tally = this.tallies.get(kind) ?? new Counts();
    this.tallies.set(kind, tally);
    const kinds = this.faultHistory.kinds(startedAt, endedAt);
    if (isBrokenOff && kinds.size > 0) {
      tally.brokenOff++;
    } else if (!this.faultHistory.wasAnswerable(startedAt, endedAt)) {
      tally.others++;
      if (fault === null) tally.othersGood++;
    } else {
      tally.answerable++;
      if (fault === null) {
        tally.good++;
        tally.times.record(Math.max(1, Math.round(endedAt - startedAt)));
        return;
      }
      for (const one of kinds) this.faultsDuring.set(one, (this.faultsDuring.get(one) ?? 0) + 1);
      if (++this.#failed <= REPORTED_MAX)
        this.#report(`failed although answerable: ${kind} ${what}: ${fault}`, startedAt, endedAt);
    }
  }

  /** Records a violation, regardless of node faults. */
  recordViolation(what: string, from: number, to: number): void {
    if (++this.brokenCount > REPORTED_MAX) return;
    this.broken.push(what);
    this.#report(`VIOLATION: ${what}`, from, to);
  }

  forget(): void {
    this.faultHistory.forget(performance.now() - RETENTION_MS);
  }

  #report(text: string, from: number, to: number): void {
    const at = new Date(performance.timeOrigin + from).toISOString();
    this.#say(`${at} ${text}\n  after ${Math.round(to - from)} ms; ${this.faultHistory.describe(from, to)}`);
  }
}
