/** Times in milliseconds, sizes in bytes. */
export const geyserSourceOptions = {
  /** `union`: the merged filters of all streams. `full`: everything, always. */
  demand: 'union' as 'union' | 'full',
  connectTimeoutMs: 3_000,
  pingIntervalMs: 10_000,
  pongTimeoutMs: 5_000,
  /** Before and after decompression. */
  messageMaxBytes: 128 * 1024 * 1024,
  /** HTTP/2 flow control of the stream and of the connection. */
  windowBytes: 16 * 1024 * 1024,
  /** Batching delay of request changes: servers reject frequent requests. */
  requestDelayMs: 20,
  requestDelayMaxMs: 100,
  /** A request counts as accepted after this long without an answer. */
  ackTimeoutMs: 2_000,
  openTimeoutMs: 3_000,
  /** Above it, WebSocket subscriptions are rejected, and broader filters replace those of gRPC streams. */
  filtersMax: 100,
  /** Above it, all updates of a kind are requested; with the PubSub fallback, filter sets are rejected. */
  addressesMax: 20_000,
  /** A stream ends without a new slot for this long. */
  stallMs: 5_000,
  /** Without a slot from any server for this long, WebSocket subscriptions fail over. */
  downMaxMs: 15_000,
  /** Doubles with each failure. */
  reconnectMs: 250,
  reconnectMaxMs: 2_000,
  /** Slots before the oldest incomplete one at which the replay after a disconnect starts. */
  replayMarginSlots: 4,
  /** Slots before the newest one at which a replay may start. Servers keep about 150. */
  replaySlotsMax: 140,
  backfillsMax: 2,
  backfillTimeoutMs: 30_000,
  fillTimeoutMs: 30_000,
  fillSlotsMax: 600,
  slotsMax: 512,
  /** Tracked updates per slot; updates beyond it may be duplicated. */
  slotUpdatesMax: 1_000_000,
  /** PubSub fallback: accounts waiting for their block; above it, those of the oldest slot are lost. */
  waitingAccountsMax: 20_000,
};

export type GeyserSourceOptions = Readonly<typeof geyserSourceOptions>;
