import type { Slot } from '../solana/units.ts';

/**
 * `expired`: the blockhash expired and no node knows the transaction. `unconfirmed`: tracking timed out, or the
 * transaction's signatures are invalid. `shed`: dropped for lack of capacity.
 */
export const submissionStatuses = ['confirmed', 'failed', 'expired', 'unconfirmed', 'shed'] as const;
export type SubmissionStatus = (typeof submissionStatuses)[number];

export type RebroadcastAttempt = Readonly<{
  node: string;
  outcome: string;
  times: number;
  /** Start of the last attempt in Unix milliseconds; `ms` is its duration. */
  at: number;
  ms: number;
}>;

export type SubmissionResult = Readonly<{
  status: SubmissionStatus;
  slot: Slot | null;
  /** Error name or JSON; null if there is no error, or if the text would be too long. */
  err: string | null;
  rebroadcasts: number;
  rebroadcastAttempts: readonly RebroadcastAttempt[];
}>;
