/** Limits of the pool. Times in milliseconds, sizes in bytes. */
export type UpstreamLimits = Readonly<{
  /** Attempts per call, including the first. */
  attemptsMax: number;
  /** Timeout of a call over all attempts. */
  timeoutMs: number;
  /** Timeout of an attempt when another may follow. */
  attemptTimeoutMs: number;
  /** Timeout of an attempt of sendTransaction. */
  sendAttemptTimeoutMs: number;
  connectTimeoutMs: number;
  /** Idle time of a connection before it is closed. */
  idleTimeoutMs: number;
  /** Maximum connections per node. */
  connectionsMax: number;
  /** Calls in flight or queued per node; a full node is skipped. */
  inFlightMax: number;
  /** Largest response. */
  responseMaxBytes: number;
  /** Memory for buffered responses of all nodes. */
  responseBufferMaxBytes: number;
  /** Responses from this size on are streamed to callers that accept it; they cannot be retried. */
  longAnswerFromBytes: number;
  /** A streamed response without progress for this long is aborted. */
  longAnswerStallMs: number;
  /** Streamed responses per node, at most half of its connections; others are buffered. */
  longAnswersMax: number;
  /** Consecutive failures that open the circuit. */
  circuitFailuresMax: number;
  /** First open time; doubles up to eight times this. */
  circuitOpenMs: number;
  /** Throttling time after a 429 without Retry-After. */
  throttleMs: number;
  /** Upper bound for Retry-After. */
  throttleMaxMs: number;
  /** Longest a call waits for a throttled node when no other is available. */
  throttleWaitMaxMs: number;
  /** Ejection time of a node that reported itself unhealthy (-32005). */
  cordonMs: number;
  /** First backoff before a failed node is retried; doubles each time. */
  backoffMs: number;
  /** How long a call is retried while no connection can be made; such attempts are not counted. */
  reconnectMaxMs: number;
  pollIntervalMs: number;
  pollTimeoutMs: number;
  /** Slots a node may be behind the best node, or behind the shreds it has received. */
  lagMaxSlots: number;
  /** A node whose slot does not advance for this long, while others do, is skipped. */
  stallMs: number;
  /** A node that runs ahead of all others by more slots per second is not trusted. */
  slotsPerSecondMax: number;
  /** Interval of shred slot polls. */
  shredsIntervalMs: number;
  /** Interval of first-available-block polls. */
  historyIntervalMs: number;
  /** `spread`: load balancing. `sticky`: one primary until another is better for `stickyMs`. */
  loadBalancing: BalancingStrategy;
  stickyMs: number;
  /** Sliding window for outlier ejection. */
  windowMs: number;
  /** Attempts in the window below which no node is ejected. */
  exclusionAttemptsMin: number;
  /** Ratios of failed and of throttled attempts that eject a node. */
  failedShareMax: number;
  throttledShareMax: number;
  /** A node is ejected if its latency exceeds this and three times that of the others. */
  slowMs: number;
  /** Longest ejection. */
  exclusionMaxMs: number;
  /** Share of reads mirrored to ejected nodes, and maximum probes in flight. */
  recoveryProbeRatio: number;
  copiesMax: number;
  /** Consecutive successes that re-admit a node. */
  readmitSuccessesMin: number;
  /** Consecutive successful polls that re-admit a node on probation. */
  readmitPollsMin: number;
  /** Share of reads that may be hedged. */
  hedgeRatio: number;
  /** Hedges allowed in a row. */
  hedgeBurst: number;
  /** Latency quantile after which a call is hedged. */
  hedgeQuantile: number;
  /** Bounds of the hedge delay. */
  hedgeMinMs: number;
  hedgeMaxMs: number;
  /** How long a missing capability is remembered. */
  capabilityMs: number;
  /** Whether a null transaction result is confirmed by a second node. */
  confirmNullResults: boolean;
}>;

export const balancingStrategies = ['spread', 'sticky'] as const;
export type BalancingStrategy = (typeof balancingStrategies)[number];

export const defaultUpstreamLimits: UpstreamLimits = {
  attemptsMax: 24,
  timeoutMs: 30_000,
  attemptTimeoutMs: 10_000,
  sendAttemptTimeoutMs: 3_000,
  connectTimeoutMs: 3_000,
  idleTimeoutMs: 15_000,
  connectionsMax: 128,
  inFlightMax: 4_096,
  responseMaxBytes: 128 * 1024 * 1024,
  responseBufferMaxBytes: 1024 * 1024 * 1024,
  longAnswerFromBytes: 1024 * 1024,
  longAnswerStallMs: 30_000,
  longAnswersMax: 32,
  circuitFailuresMax: 5,
  circuitOpenMs: 2_000,
  throttleMs: 1_000,
  throttleMaxMs: 60_000,
  throttleWaitMaxMs: 2_000,
  cordonMs: 2_000,
  backoffMs: 50,
  reconnectMaxMs: 5_000,
  pollIntervalMs: 1_000,
  pollTimeoutMs: 3_000,
  lagMaxSlots: 100,
  stallMs: 15_000,
  slotsPerSecondMax: 25,
  shredsIntervalMs: 5_000,
  historyIntervalMs: 60_000,
  loadBalancing: 'spread',
  stickyMs: 30_000,
  windowMs: 30_000,
  exclusionAttemptsMin: 11,
  failedShareMax: 0.7,
  throttledShareMax: 0.4,
  slowMs: 3_000,
  exclusionMaxMs: 300_000,
  recoveryProbeRatio: 0.1,
  copiesMax: 4,
  readmitSuccessesMin: 10,
  readmitPollsMin: 5,
  hedgeRatio: 0.05,
  hedgeBurst: 10,
  hedgeQuantile: 0.95,
  hedgeMinMs: 100,
  hedgeMaxMs: 2_000,
  capabilityMs: 60_000,
  confirmNullResults: true,
};
