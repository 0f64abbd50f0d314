/** Every limit of sending. Times in milliseconds, sizes in bytes. */
export type SubmitLimits = Readonly<{
  /** Different transactions that are on their way to an answer at a time; beyond them another is refused. */
  underWayMax: number;
  /** Who waits for those answers, of all of them together: they may outlive the requests that they came with. */
  callersMax: number;
  /** How long one who is handed a transaction may take to answer, where nobody waits behind it for its turn. */
  attemptTimeoutMs: number;
  /** Between two rebroadcasts of one transaction, give or take a quarter. */
  rebroadcastIntervalMs: number;
  /** Transactions that are being rebroadcast at a time, each to everybody; others wait for their turn. */
  rebroadcastsAtATime: number;
  /** Transactions that are followed at a time; beyond it those are given up that were rebroadcast most often. */
  pendingMax: number;
  /** What they may take together. */
  pendingMaxBytes: number;
  /** How long one is followed. */
  pendingMaxMs: number;
  /** Between two looks at what became of those that are followed, and at the block height. */
  statusPollMs: number;
  expiryPollMs: number;
  /** Such calls under way at a time. */
  callsAtATime: number;
  /** How long after it was accepted the same transaction is not handed over again, and of how many that is known. */
  acceptedMs: number;
  acceptedMax: number;
}>;

/** Limits that suit a few thousand transactions a second. */
export const submitLimits: SubmitLimits = {
  underWayMax: 10_000,
  callersMax: 50_000,
  attemptTimeoutMs: 5_000,
  rebroadcastIntervalMs: 2_000,
  rebroadcastsAtATime: 64,
  pendingMax: 10_000,
  pendingMaxBytes: 32 * 1024 * 1024,
  pendingMaxMs: 120_000,
  statusPollMs: 1_000,
  expiryPollMs: 2_000,
  callsAtATime: 4,
  acceptedMs: 1_000,
  acceptedMax: 10_000,
};
