import type { Slot } from '../solana/units.ts';

/**
 * Result of an accepted transaction.
 * - `confirmed`: landed.
 * - `failed`: landed with an error.
 * - `expired`: the blockhash expired and no node knows it.
 * - `unconfirmed`: tracking timed out, or its signatures are invalid.
 * - `shed`: dropped for lack of capacity.
 */
export const submissionStatuses = ['confirmed', 'failed', 'expired', 'unconfirmed', 'shed'] as const;
export type SubmissionStatus = (typeof submissionStatuses)[number];

/** Rebroadcasts to a node with the same outcome. */
export type RebroadcastAttempt = Readonly<{
  node: string;
  /** As CallAttempt.outcome. */
  outcome: string;
  times: number;
  /** Last one: start in Unix milliseconds, and duration. */
  at: number;
  ms: number;
}>;

/** End of tracking. */
export type SubmissionResult = Readonly<{
  name: SubmissionStatus;
  /** null if it did not land. */
  slot: Slot | null;
  /** Chain error: name or JSON; null if invalid. */
  err: string | null;
  rebroadcasts: number;
  rebroadcastAttempts: readonly RebroadcastAttempt[];
}>;
