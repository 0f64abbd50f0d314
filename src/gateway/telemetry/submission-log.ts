import type { CallAttempt, Network } from '../../protocol/call.ts';
import type { SubmissionResult } from '../../protocol/submission-result.ts';

/** A submitted transaction. Later results are set on the same object. */
export type Submission = {
  /** Unix milliseconds. */
  readonly at: number;
  readonly signature: string;
  readonly customerId: string;
  readonly keyId: string;
  readonly network: Network;
  /** `accepted`, or the failure. */
  readonly outcome: string;
  /** Attempts before the response. Rebroadcasts are in `result`. */
  readonly attempts: readonly SubmissionAttempt[];
  /** Final result of an accepted transaction; null until known, which may be never. */
  result: SubmissionResult | null;
};

export type SubmissionAttempt = Readonly<{
  node: string;
  /** Unix milliseconds. */
  at: number;
  ms: number;
  outcome: string;
}>;

export const submissionLogOptions = {
  /** Submissions waiting to be written; beyond it the oldest are dropped. */
  entriesMax: 5_000,
  /** Attempts stored per submission. */
  attemptsMax: 100,
} as const;

/** @param nowMs - Unix milliseconds now, to convert from `performance.now()`. */
export function submissionAttempt(attempt: CallAttempt, nowMs: number): SubmissionAttempt {
  const { node, startedAt, endedAt, outcome } = attempt;
  const at = Math.round(nowMs - (performance.now() - startedAt));
  return { node, at, ms: Math.round((endedAt - startedAt) * 1_000) / 1_000, outcome };
}

/** Submitted transactions until they are written. */
export class SubmissionLog {
  readonly #entriesMax: number;
  #entries = new Set<Submission>();
  #dropped = 0;

  constructor({ entriesMax }: Readonly<{ entriesMax: number }> = submissionLogOptions) {
    this.#entriesMax = entriesMax;
  }

  /** Submissions dropped before they were written. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Queues a submission to be written, or written again. */
  add(submission: Submission): void {
    this.#entries.add(submission);
    if (this.#entries.size <= this.#entriesMax) return;
    for (const oldest of this.#entries) {
      this.#entries.delete(oldest);
      break;
    }
    this.#dropped++;
  }

  /** Takes all submissions, oldest first. */
  drain(): Submission[] {
    const entries = [...this.#entries];
    this.#entries.clear();
    return entries;
  }
}
