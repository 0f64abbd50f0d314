import type { Slot } from '../solana/units.ts';

/**
 * What became of a transaction after a node had accepted it.
 * - `confirmed`: it landed.
 * - `failed`: it landed, and failed on chain.
 * - `expired`: its blockhash is over, and no node knows it.
 * - `unconfirmed`: it was followed for as long as any is, or until it was seen that its signatures are not of its bytes.
 * - `shed`: it was given up to make room for others.
 */
export const submissionStatuses = ['confirmed', 'failed', 'expired', 'unconfirmed', 'shed'] as const;
export type SubmissionStatus = (typeof submissionStatuses)[number];

/** That a node was handed a transaction again, as often as it came to the same. */
export type RebroadcastAttempt = Readonly<{
  node: string;
  /** As of a first attempt (protocol/call.ts). */
  outcome: string;
  times: number;
  /** The last of them: when it began, in Unix milliseconds, and how long it took. */
  at: number;
  ms: number;
}>;

/** How following a transaction ended. */
export type SubmissionResult = Readonly<{
  name: SubmissionStatus;
  /** Where it landed; null where it did not. */
  slot: Slot | null;
  /** The chain's error of one that failed: its name, or JSON. Null where a node told what can be none. */
  err: string | null;
  /** How often all nodes were handed it again. */
  rebroadcasts: number;
  /** What the nodes said to that. */
  rebroadcastAttempts: readonly RebroadcastAttempt[];
}>;
