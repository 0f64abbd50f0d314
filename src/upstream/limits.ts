/**
 * The limits of the pool: its nodes, their connections, and the ways of calls among them. What stands in front of it has
 * limits of its own, beside what they limit. Times in milliseconds, sizes in bytes.
 */
export type UpstreamLimits = Readonly<{
  /** How many times one call may be put to a node, the first included. */
  attemptsMax: number;
  /** How long one call may take, all attempts together. */
  timeoutMs: number;
  /** How long one attempt may take when another may follow it. */
  attemptTimeoutMs: number;
  /** The same for a transaction, which is worth nothing when it comes late, and does no harm when it comes twice. */
  sendAttemptTimeoutMs: number;
  connectTimeoutMs: number;
  /** How long an unused connection is kept. */
  idleTimeoutMs: number;
  /** Open connections per node. */
  connectionsMax: number;
  /** Calls under way or queued per node; above it the node is passed over. */
  inFlightMax: number;
  /** The longest answer that is passed on. */
  responseMaxBytes: number;
  /** What answers of all nodes may take together while they come, but for those that are passed on as they do. */
  responseBufferMaxBytes: number;
  /** Answers from here on are passed on while they come, to callers who take them so; no other node can be asked then. */
  longAnswerFromBytes: number;
  /** How long such an answer may stand still, because of the node or of the caller. */
  longAnswerStallMs: number;
  /** How many of them may be under way per node; they take half of its connections at most. Others are held whole. */
  longAnswersMax: number;
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
  /** Slots a node may be behind the best, or have received and not replayed, before it is passed over. */
  lagMaxSlots: number;
  /** How long a node's slot may stand still while others move. */
  stallMs: number;
  /** A node that comes ahead of all others by more slots a second is not believed. */
  slotsPerSecondMax: number;
  /** How often a node is asked up to which slot it has shreds. */
  shredsIntervalMs: number;
  /** How often a node is asked for the first block that it has. */
  historyIntervalMs: number;
  /** Whether calls spread over equal nodes, or stay at one until another is clearly better for `stickyMs`. */
  loadBalancing: BalancingStrategy;
  stickyMs: number;
  /** The last while: what became of a node's calls in it may take the node out of service. */
  windowMs: number;
  /** With fewer calls in it nothing is held against a node. */
  exclusionAttemptsMin: number;
  /** The share of failed calls, and of throttled ones, beyond which a node is passed over. */
  failedShareMax: number;
  throttledShareMax: number;
  /** A node most of whose answers take longer, and three times as long as those of others, is passed over. */
  slowMs: number;
  /** The longest that a node is passed over for what became of its calls. */
  exclusionMaxMs: number;
  /** The share of reads of which a node that is passed over gets a copy, and how many copies are under way at most. */
  copyShare: number;
  copiesMax: number;
  /** Good answers in a row after which it is re-admitted. */
  readmitAnswersMin: number;
  /** Answered polls in a row, with no failed call between, after which it is re-admitted on probation. */
  readmitPollsMin: number;
  /** The share of reads that may be put to a second node because the first is late. */
  hedgeRatio: number;
  /** How many such there may be in a row after a calm while. */
  hedgeBurst: number;
  /** The share of a node's answers that come sooner than the one that is waited for no longer. */
  hedgeQuantile: number;
  /** The least and the longest that the first is waited for. */
  hedgeMinMs: number;
  hedgeMaxMs: number;
  /** For how long it is remembered what a node lacks. */
  capabilityMs: number;
  /** Whether a second node is asked for a transaction that the first does not have. */
  confirmNullResults: boolean;
}>;

/** The ways in which one of several equal nodes is chosen. */
export const balancingStrategies = ['spread', 'sticky'] as const;
export type BalancingStrategy = (typeof balancingStrategies)[number];

/** Limits that suit a handful of remote nodes and interactive callers. */
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
  restMs: 1_000,
  restMaxMs: 60_000,
  restWaitMaxMs: 2_000,
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
  copyShare: 0.1,
  copiesMax: 4,
  readmitAnswersMin: 10,
  readmitPollsMin: 5,
  hedgeRatio: 0.05,
  hedgeBurst: 10,
  hedgeQuantile: 0.95,
  hedgeMinMs: 100,
  hedgeMaxMs: 2_000,
  capabilityMs: 60_000,
  confirmNullResults: true,
};
