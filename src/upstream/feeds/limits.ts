/** Feed limits. Times in milliseconds, sizes in bytes. */
export const feedLimits = {
  /** Time from connecting until the node accepts the slot subscription. */
  handshakeTimeoutMs: 4_000,
  messageMaxBytes: 128 * 1024 * 1024,
  /** Maximum size of a request. Source: Agave rpc/src/rpc_pubsub_service.rs, `max_frame_size`. */
  requestMaxBytes: 4_096,
  pingIntervalMs: 5_000,
  pongTimeoutMs: 5_000,
  ackTimeoutMs: 4_000,
  /** Above `handshakeTimeoutMs` + `ackTimeoutMs`, but short enough for clients to wait, even after Geyser failed. */
  openTimeoutMs: 9_000,
  /** Above this, another connection is opened. */
  connectionSubscriptionsMax: 1_000,
  nodeConnectionsMax: 8,
  /** A connection is closed if it reports no new slot for this long while the network advances. */
  stallMs: 5_000,
  lagMaxSlots: 50,
  /** Backoff after a failed connection; doubles with each failure. */
  reconnectMs: 250,
  reconnectMaxMs: 10_000,
  /** Subscriptions return to a node of a better priority once it has been healthy for this long. */
  failBackMs: 30_000,
  failoversMax: 64,
  gapTimeoutMs: 120_000,
  gapBlocksMax: 600,
  /** A gap starts this many slots before the last position, since the last slots may not have been confirmed yet. */
  gapMarginSlots: 8,
  gapFillsMax: 16,
  /** Maximum notifications buffered per subscription during a gap fill. */
  gapBufferMax: 20_000,
  seenMax: 20_000,
  blockCacheMax: 64,
  blockCacheMaxBytes: 128 * 1024 * 1024,
  blockReadsMax: 4,
  followerLagMaxSlots: 600,
};

export type FeedLimits = Readonly<typeof feedLimits>;
