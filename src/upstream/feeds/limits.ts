/** Limits of the feeds. Times in milliseconds, sizes in bytes. */
export type FeedLimits = Readonly<{
  /** From connect until the node accepts the slot subscription. */
  handshakeTimeoutMs: number;
  messageMaxBytes: number;
  /** Longest request. Source: Agave rpc/src/rpc_pubsub_service.rs, `max_frame_size`. */
  requestMaxBytes: number;
  pingIntervalMs: number;
  pongTimeoutMs: number;
  ackTimeoutMs: number;
  /**
   * Timeout of `open`: longer than one node may take, shorter than clients wait, including a failed Geyser
   * attempt.
   */
  openTimeoutMs: number;
  /** Subscriptions per connection; beyond it, another connection opens. */
  connectionSubscriptionsMax: number;
  nodeConnectionsMax: number;
  /** How long a connection may report no new slot while the network advances. */
  stallMs: number;
  lagMaxSlots: number;
  /** Backoff after a failed connection; doubles with each failure. */
  reconnectMs: number;
  reconnectMaxMs: number;
  /** Concurrent moves to another node. */
  movesMax: number;
  /** Time to attach to another node and to fill the gap. */
  gapTimeoutMs: number;
  /** Longest gap that is filled, in slots. */
  gapBlocksMax: number;
  /** A gap starts this many slots before the newest emitted one, which may not have been confirmed. */
  gapMarginSlots: number;
  gapFillsMax: number;
  /** Notifications per subscription buffered during a gap fill. */
  heldMax: number;
  /** Remembered messages per subscription, for deduplication. */
  seenMax: number;
  blocksKept: number;
  /** Size of the cached blocks, as received. */
  blocksKeptBytes: number;
  blockReadsMax: number;
  /** Lag after which block subscriptions fail. */
  followerLagMaxSlots: number;
}>;

export const feedLimits: FeedLimits = {
  handshakeTimeoutMs: 4_000,
  messageMaxBytes: 128 * 1024 * 1024,
  requestMaxBytes: 4_096,
  pingIntervalMs: 5_000,
  pongTimeoutMs: 5_000,
  ackTimeoutMs: 4_000,
  openTimeoutMs: 9_000,
  connectionSubscriptionsMax: 1_000,
  nodeConnectionsMax: 8,
  stallMs: 5_000,
  lagMaxSlots: 50,
  reconnectMs: 250,
  reconnectMaxMs: 10_000,
  movesMax: 64,
  gapTimeoutMs: 120_000,
  gapBlocksMax: 600,
  gapMarginSlots: 8,
  gapFillsMax: 16,
  heldMax: 20_000,
  seenMax: 20_000,
  blocksKept: 64,
  blocksKeptBytes: 128 * 1024 * 1024,
  blockReadsMax: 4,
  followerLagMaxSlots: 600,
};
