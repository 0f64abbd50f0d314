export const balancingStrategies = ['spread', 'sticky'] as const;
export type BalancingStrategy = (typeof balancingStrategies)[number];

/** Limits of the pool. Times in milliseconds, sizes in bytes. */
export const defaultUpstreamLimits = {
  /** Attempts per call, including the first. */
  attemptsMax: 24,
  /** Timeout of a call over all attempts. */
  timeoutMs: 30_000,
  /** Timeout of an attempt when another may follow. */
  attemptTimeoutMs: 10_000,
  sendAttemptTimeoutMs: 3_000,
  connectTimeoutMs: 3_000,
  /** Idle time of a connection before it is closed. */
  idleTimeoutMs: 15_000,
  /** Per node. */
  connectionsMax: 128,
  /** Calls in flight or queued per node; a full node is skipped. */
  inFlightMax: 4_096,
  responseMaxBytes: 128 * 1024 * 1024,
  /** Memory for buffered responses of all nodes. */
  responseBufferMaxBytes: 1024 * 1024 * 1024,
  /** Responses from this size on are streamed to callers that accept it; they cannot be retried. */
  longAnswerFromBytes: 1024 * 1024,
  /** A streamed response without progress for this long is aborted. */
  longAnswerStallMs: 30_000,
  /** Streamed responses per node, at most half of its connections; others are buffered. */
  longResponsesMax: 32,
  circuitFailuresMax: 5,
  /** First open time; doubles up to eight times this. */
  circuitOpenMs: 2_000,
  /** After a 429 without Retry-After. */
  throttleMs: 1_000,
  /** Limits Retry-After. */
  throttleMaxMs: 60_000,
  /** Longest a call waits for a throttled node when no other is available. */
  throttleWaitMaxMs: 2_000,
  /** Ejection time of a node that reported itself unhealthy (-32005). */
  cordonMs: 2_000,
  /** First backoff before a failed node is retried; doubles each time. */
  backoffMs: 50,
  /** How long a call is retried while no connection can be made; such attempts are not counted. */
  reconnectMaxMs: 5_000,
  pollIntervalMs: 1_000,
  pollTimeoutMs: 3_000,
  /** Slots a node may be behind the best node, or behind the shreds it has received. */
  lagMaxSlots: 100,
  /** A node whose slot does not advance for this long, while others do, is skipped. */
  stallMs: 15_000,
  /** A node that runs ahead of all others by more slots per second is not trusted. */
  slotsPerSecondMax: 25,
  /** Intervals of polls of the shred slot and of the first available block. */
  shredsIntervalMs: 5_000,
  historyIntervalMs: 60_000,
  /** `spread`: load balancing. `sticky`: one primary until another is better for `stickyMs`. */
  loadBalancing: 'spread' as BalancingStrategy,
  stickyMs: 30_000,
  /** Sliding window for outlier ejection. */
  windowMs: 30_000,
  /** Attempts in the window below which no node is ejected. */
  exclusionAttemptsMin: 11,
  /** Ratios of failed and of throttled attempts that eject a node. */
  failedShareMax: 0.7,
  throttledShareMax: 0.4,
  /** A node is ejected if its latency exceeds this and three times that of the others. */
  slowMs: 3_000,
  exclusionMaxMs: 300_000,
  /** Share of reads mirrored to ejected nodes, and maximum probes in flight. */
  recoveryProbeRatio: 0.1,
  recoveryProbesInFlightMax: 4,
  /** Consecutive successes that re-admit a node. */
  readmitSuccessesMin: 10,
  /** Consecutive successful polls that re-admit a node on probation. */
  readmitPollsMin: 5,
  /** Share of reads that may be hedged. */
  hedgeRatio: 0.05,
  hedgeBurst: 10,
  /** Latency quantile after which a call is hedged. */
  hedgeQuantile: 0.95,
  hedgeMinMs: 100,
  hedgeMaxMs: 2_000,
  /** How long a missing capability is remembered. */
  capabilityMs: 60_000,
  /** A null transaction result is confirmed by a second node. */
  confirmNullResults: true as boolean,
};

export type UpstreamLimits = Readonly<typeof defaultUpstreamLimits>;
