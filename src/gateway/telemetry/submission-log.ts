import type { CallAttempt, Network } from '../../protocol/call.ts';
import type { SubmissionResult } from '../../protocol/submission-result.ts';

/** One transaction that was handed over. It is known by this very object: what is learned later is put into it. */
export type Submission = {
  /** Unix milliseconds. */
  readonly at: number;
  readonly signature: string;
  readonly customerId: string;
  readonly keyId: string;
  readonly network: Network;
  /** `accepted`, or the failure in a few words. */
  readonly outcome: string;
  /** Those that have ended, of the first time. Rebroadcasts are in `fate`. */
  readonly attempts: readonly SubmissionAttempt[];
  /** What became of one that was accepted; null until that is known, which for some it never is. */
  result: SubmissionResult | null;
};

/** One time that a node was handed it. */
export type SubmissionAttempt = Readonly<{
  node: string;
  /** Unix milliseconds. */
  at: number;
  ms: number;
  outcome: string;
}>;

/** What holds when nothing else is said. */
export const submissionLogOptions = {
  /** Submissions that wait to be written; beyond it the oldest are dropped. */
  entriesMax: 5_000,
  /** Attempts that are kept of one. */
  attemptsMax: 100,
} as const;

/** @param nowMs - Unix milliseconds at `performance.now()`, to turn one into the other. */
export function submissionAttempt(attempt: CallAttempt, nowMs: number): SubmissionAttempt {
  const { node, startedAt, endedAt, outcome } = attempt;
  const at = Math.round(nowMs - (performance.now() - startedAt));
  return { node, at, ms: Math.round((endedAt - startedAt) * 1_000) / 1_000, outcome };
}

/** Transactions that were handed over, until they are written. */
export class SubmissionLog {
  readonly #entriesMax: number;
  #entries = new Set<Submission>();
  #dropped = 0;

  constructor({ entriesMax }: Readonly<{ entriesMax: number }> = submissionLogOptions) {
    this.#entriesMax = entriesMax;
  }

  /** Submissions that found no room because nobody took them out. */
  get dropped(): number {
    return this.#dropped;
  }

  /** It is to be written; one that was written before, as it is now. */
  add(submission: Submission): void {
    this.#entries.add(submission);
    if (this.#entries.size <= this.#entriesMax) return;
    for (const oldest of this.#entries) {
      this.#entries.delete(oldest);
      break;
    }
    this.#dropped++;
  }

  /** Takes out what is to be written, the oldest first. */
  drain(): Submission[] {
    const entries = [...this.#entries];
    this.#entries.clear();
    return entries;
  }
}
