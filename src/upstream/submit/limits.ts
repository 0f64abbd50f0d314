export const submitLimits = {
  /** Distinct transactions awaiting a response. Beyond this, new transactions are rejected. */
  inFlightMax: 10_000,
  /** Submitters awaiting a response, in total. */
  callersMax: 50_000,
  /** Timeout of an attempt at a single target. Such attempts are not retried. */
  attemptTimeoutMs: 5_000,
  rebroadcastIntervalMs: 2_000,
  rebroadcastConcurrency: 64,
  /** Maximum tracked transactions. Above this, the transactions with the most rebroadcasts are dropped. */
  pendingMax: 10_000,
  pendingMaxBytes: 32 * 1024 * 1024,
  pendingMaxMs: 120_000,
  /** Poll intervals: `pollMs` for statuses, `expiryPollMs` for the block height. */
  pollMs: 1_000,
  expiryPollMs: 2_000,
  callConcurrency: 4,
  /** Accepted transactions are remembered within these two limits, to answer duplicates directly. */
  acceptedMs: 1_000,
  acceptedMax: 10_000,
};

export type SubmitLimits = Readonly<typeof submitLimits>;
