import type { CallAttempt, Network } from '../protocol/call.ts';

/** One transaction that was handed over. */
export type Submission = Readonly<{
  /** Unix milliseconds. */
  at: number;
  signature: string;
  customerId: string;
  keyId: string;
  network: Network;
  /** `accepted`, or the failure in a few words. */
  outcome: string;
  attempts: readonly SubmissionAttempt[];
}>;

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
  #entries: Submission[] = [];
  #dropped = 0;

  constructor({ entriesMax }: Readonly<{ entriesMax: number }> = submissionLogOptions) {
    this.#entriesMax = entriesMax;
  }

  /** Submissions that found no room because nobody took them out. */
  get dropped(): number {
    return this.#dropped;
  }

  add(submission: Submission): void {
    this.#entries.push(submission);
    if (this.#entries.length <= this.#entriesMax) return;
    this.#entries.shift();
    this.#dropped++;
  }

  /** Takes out what is to be written, the oldest first. */
  drain(): Submission[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }
}
