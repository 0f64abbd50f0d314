/** Times in milliseconds, sizes in bytes. */
export const geyserSourceOptions = {
  /** `union`: request the merged filters of all streams. `full`: always request everything. */
  demand: 'union' as 'union' | 'full',
  connectTimeoutMs: 3_000,
  pingIntervalMs: 10_000,
  pongTimeoutMs: 5_000,
  /** Applies before and after decompression. */
  messageMaxBytes: 128 * 1024 * 1024,
  /** HTTP/2 flow-control window of the stream and of the connection. */
  windowBytes: 16 * 1024 * 1024,
  /** Delay that batches request changes, because servers reject frequent requests. */
  requestDelayMs: 20,
  requestDelayMaxMs: 100,
  /** A request counts as accepted after this long without an answer. */
  ackTimeoutMs: 2_000,
  openTimeoutMs: 3_000,
  /** Above this, Geyser serves no new WebSocket subscriptions, and broader filters replace those of gRPC streams. */
  filtersMax: 100,
  /** Above this, all updates of a kind are requested. The PubSub fallback rejects the filter set instead. */
  addressesMax: 20_000,
  /** A stream ends after this long without a new slot. */
  stallMs: 5_000,
  /** Streams of a worse priority end once a better node has delivered slots without a pause for this long. */
  failBackMs: 30_000,
  /** WebSocket subscriptions fail over after this long without a slot from any server. */
  downMaxMs: 15_000,
  /** Doubles with each failure. */
  reconnectMs: 250,
  reconnectMaxMs: 2_000,
  /** Number of emitted slots, the newest included, that a replay repeats after a disconnect. */
  replayMarginSlots: 4,
  /** A replay may start at most this many slots before the newest slot. Servers store about 150 slots. */
  replaySlotsMax: 140,
  backfillsMax: 2,
  backfillTimeoutMs: 30_000,
  fillTimeoutMs: 30_000,
  fillSlotsMax: 600,
  slotsMax: 512,
  /** Maximum tracked updates per slot. Updates beyond this may be duplicated. */
  slotUpdatesMax: 1_000_000,
  /** PubSub fallback: maximum accounts that wait for their block. Above this, the oldest slot loses its accounts. */
  waitingAccountsMax: 20_000,
};

export type GeyserSourceOptions = Readonly<typeof geyserSourceOptions>;
