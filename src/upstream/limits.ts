/** Every limit of the upstream floor, in one place. Times in milliseconds, sizes in bytes. */
export type UpstreamLimits = Readonly<{
  /** How many times one call may be put to a node, the first included. */
  attemptsMax: number;
  /** How long one call may take, all attempts together. */
  timeoutMs: number;
  /** How long one attempt may take when another may follow it. */
  attemptTimeoutMs: number;
  connectTimeoutMs: number;
  /** How long an unused connection is kept. */
  idleTimeoutMs: number;
  /** Open connections per node. */
  connectionsMax: number;
  /** Calls under way or queued per node; above it the node is passed over. */
  inFlightMax: number;
  /** The longest answer that is passed on. */
  answerMaxBytes: number;
  /** Failures in a row after which a node is left alone for a while. */
  circuitFailuresMax: number;
  /** How long it is left alone the first time; doubles up to eight times that. */
  circuitOpenMs: number;
  /** How long a node rests after a 429 without Retry-After. */
  restMs: number;
  /** The longest rest a Retry-After may ask for. */
  restMaxMs: number;
  /** The longest a call waits for a resting node when there is no other. */
  restWaitMaxMs: number;
  /** How long a node that called itself unhealthy (-32005) is passed over. */
  cordonMs: number;
  /** Pause before a node is asked again that has just failed; doubles with each. */
  backoffMs: number;
  /** How long a call goes on when no connection can be made: nothing was sent, so no attempt is counted. */
  reconnectMaxMs: number;
  pollIntervalMs: number;
  pollTimeoutMs: number;
  /** Slots a node may be behind the best before it is passed over. */
  lagMaxSlots: number;
}>;

/** Limits that suit a handful of remote nodes and interactive callers. */
export const defaultUpstreamLimits: UpstreamLimits = {
  attemptsMax: 24,
  timeoutMs: 30_000,
  attemptTimeoutMs: 10_000,
  connectTimeoutMs: 3_000,
  idleTimeoutMs: 15_000,
  connectionsMax: 128,
  inFlightMax: 4_096,
  answerMaxBytes: 128 * 1024 * 1024,
  circuitFailuresMax: 5,
  circuitOpenMs: 2_000,
  restMs: 1_000,
  restMaxMs: 60_000,
  restWaitMaxMs: 2_000,
  cordonMs: 2_000,
  backoffMs: 50,
  reconnectMaxMs: 5_000,
  pollIntervalMs: 1_000,
  pollTimeoutMs: 3_000,
  lagMaxSlots: 100,
};
