import type { Slot } from '../solana/units.ts';

/**
 * `expired`: the blockhash expired and no node knows the transaction. `unconfirmed`: tracking timed out, or its
 * signatures are invalid. `shed`: dropped for lack of capacity.
 */
export const submissionStatuses = ['confirmed', 'failed', 'expired', 'unconfirmed', 'shed'] as const;
export type SubmissionStatus = (typeof submissionStatuses)[number];

export type RebroadcastAttempt = Readonly<{
  node: string;
  outcome: string;
  times: number;
  /** Last one: start in Unix milliseconds, and duration. */
  at: number;
  ms: number;
}>;

export type SubmissionResult = Readonly<{
  name: SubmissionStatus;
  slot: Slot | null;
  /** Name or JSON; null if invalid. */
  err: string | null;
  rebroadcasts: number;
  rebroadcastAttempts: readonly RebroadcastAttempt[];
}>;
