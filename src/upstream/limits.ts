/** Lower numbers are used first. */
export const PRIORITY_MAX = 100;
export const WEIGHT_MAX = 1_000;

export const balancingStrategies = ['spread', 'sticky'] as const;
export type BalancingStrategy = (typeof balancingStrategies)[number];

/** Limits of the pool. Times in milliseconds, sizes in bytes. */
export const defaultUpstreamLimits = {
  /** Attempts per call, including the first. */
  attemptsMax: 24,
  /** Timeout of a call across all attempts. */
  timeoutMs: 30_000,
  /** Timeout of one attempt; leaves time for another. */
  attemptTimeoutMs: 10_000,
  sendAttemptTimeoutMs: 3_000,
  connectTimeoutMs: 3_000,
  /** How long a connection may be idle before it is closed. */
  idleTimeoutMs: 15_000,
  /** Per node. */
  connectionsMax: 128,
  /** Calls in flight or queued per node; a full node is skipped. */
  inFlightMax: 4_096,
  responseMaxBytes: 128 * 1024 * 1024,
  /** Memory for buffered responses from all nodes. */
  responseBufferMaxBytes: 1024 * 1024 * 1024,
  /** Responses of at least this size are streamed to callers that accept streams. Streamed calls cannot be retried. */
  streamFromBytes: 1024 * 1024,
  /** A streamed response without progress for this long is aborted. */
  streamStallMs: 30_000,
  /** Maximum streamed responses per node, capped at half of `connectionsMax`; further responses are buffered. */
  longResponsesMax: 32,
  circuitFailuresMax: 5,
  /** How long the circuit stays open the first time. Each reopening doubles the time, up to 8 × this value. */
  circuitOpenMs: 2_000,
  /** First backoff after a 429 without Retry-After; doubles each time. */
  throttleMs: 1_000,
  /** Upper limit for the backoff and for Retry-After. */
  throttleMaxMs: 60_000,
  /** Longest time that a call waits for a throttled node when no other node is available. */
  throttleWaitMaxMs: 2_000,
  /** How long a node is avoided after it reported itself unhealthy (-32005) or lacked recent data. */
  unhealthyMs: 2_000,
  /** First backoff before a failed node is retried; doubles each time. */
  backoffMs: 50,
  /** How long a call is retried while no connection can be made. These attempts are not counted. */
  reconnectMaxMs: 5_000,
  pollIntervalMs: 1_000,
  pollTimeoutMs: 3_000,
  /** Maximum number of slots by which a node may lag behind the best node or behind the shreds it has received. */
  lagMaxSlots: 100,
  /** A node whose slot does not advance for this long, while other nodes advance, is avoided. */
  stallMs: 15_000,
  /** A node that advances faster than this, ahead of all other nodes, is not trusted. */
  slotsPerSecondMax: 25,
  /** Poll intervals for the shred slot and for the first available block. */
  shredsIntervalMs: 5_000,
  historyIntervalMs: 60_000,
  /** `spread`: balances the load. `sticky`: uses one primary until another node is clearly better for `stickyMs`. */
  loadBalancing: 'spread' as BalancingStrategy,
  stickyMs: 30_000,
  /** Length of the sliding window for outlier ejection. */
  windowMs: 30_000,
  /** Minimum number of attempts in the window before a node can be ejected. */
  ejectionAttemptsMin: 11,
  /** Maximum ratios of failed and of throttled attempts; a node that exceeds either is ejected. */
  failedShareMax: 0.7,
  throttledShareMax: 0.4,
  /** A node is ejected if its latency exceeds both this and three times the median of the other nodes. */
  slowMs: 3_000,
  ejectionMaxMs: 300_000,
  /** Share of reads mirrored to ejected nodes, and maximum probes in flight. */
  recoveryProbeRatio: 0.1,
  recoveryProbesInFlightMax: 4,
  /** Number of consecutive successful calls after which a node is re-admitted. */
  readmitSuccessesMin: 10,
  /** Consecutive successful polls that put an ejected node on probation; doubles with each relapse, up to 16-fold. */
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
  /** Whether a null transaction result is confirmed by a second node. */
  confirmNullResults: true as boolean,
};

export type UpstreamLimits = Readonly<typeof defaultUpstreamLimits>;
