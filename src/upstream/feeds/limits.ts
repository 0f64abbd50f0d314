/** Every limit of the feeds that come from nodes, in one place. Times in milliseconds, sizes in bytes. */
export type FeedLimits = Readonly<{
  /** From the first packet until a node's PubSub has taken a subscription to its slots. */
  handshakeTimeoutMs: number;
  /** The longest message that is taken from a node. */
  messageMaxBytes: number;
  /** The longest request that nodes take. Source: Agave rpc/src/rpc_pubsub_service.rs, `max_frame_size`. */
  requestMaxBytes: number;
  /** Between two of our pings. */
  pingIntervalMs: number;
  /** How long a node may say nothing after a ping. */
  pongTimeoutMs: number;
  /** How long a node may take to acknowledge a subscription. */
  ackTimeoutMs: number;
  /**
   * How long `open` looks for a node that feeds a subscription: longer than one node may take, shorter than whoever
   * asks waits, also when Geyser was tried before.
   */
  openTimeoutMs: number;
  /** Subscriptions on one connection; beyond it the node gets another one. */
  connectionSubscriptionsMax: number;
  /** Connections to one node. */
  nodeConnectionsMax: number;
  /** How long a connection may tell of no new slot while the network moves on. */
  stallMs: number;
  /** Slots a connection may be behind the network. */
  lagMaxSlots: number;
  /** Pause before a node is connected to again that refused or died; doubles with each. */
  reconnectMs: number;
  reconnectMaxMs: number;
  /** Subscriptions that move to another node at the same time. */
  movesMax: number;
  /** How long a subscription may take to find a new node and to learn what it missed. */
  gapTimeoutMs: number;
  /** The longest gap that is filled, in slots. */
  gapBlocksMax: number;
  /** Slots that a gap begins before the newest that was told: what lay there may not have been confirmed. */
  gapMarginSlots: number;
  /** Gaps that are read at the same time. */
  gapFillsMax: number;
  /** Notifications of one subscription that wait until its gap is filled. */
  heldMax: number;
  /** Messages of one subscription that are remembered, so that none is told twice. */
  seenMax: number;
  /** Decoded blocks that are kept for whoever asks next. */
  blockCacheMax: number;
  /** And how many bytes of them, as nodes send them. */
  blockCacheMaxBytes: number;
  /** Blocks that are read at the same time. */
  blockReadsMax: number;
  /** Slots the follower of blocks may be behind before it gives its listeners up. */
  followerLagMaxSlots: number;
}>;

/** Limits that suit a handful of remote nodes. */
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
  blockCacheMax: 64,
  blockCacheMaxBytes: 128 * 1024 * 1024,
  blockReadsMax: 4,
  followerLagMaxSlots: 600,
};
