export type UdpShredsConfig = Readonly<{
  host: string;
  port: number;
  /** Allowed addresses and networks; empty: all. Addresses can be spoofed: only signatures authenticate shreds. */
  senders: readonly string[];
}>;

export type ShredServer = Readonly<{
  name: string;
  /** May contain secrets. */
  url: string;
  /** Request metadata, such as `x-token`. May contain secrets. */
  headers: Readonly<Record<string, string>>;
}>;

/** Sources of the shred stage. All are used at once; later copies of an item are dropped. */
export type ShredsConfig = Readonly<{
  udp: UdpShredsConfig | null;
  /** Servers of Jito's `shredstream.ShredstreamProxy/SubscribeEntries`. */
  entries: readonly ShredServer[];
  /** Servers of `geyser.Geyser/SubscribeDeshred`. */
  deshred: readonly ShredServer[];
  /** Shreds of other versions are dropped. null: the version is read from the network's nodes. */
  shredVersion: number | null;
}>;

/** Times in milliseconds. */
export const deshredLimits = {
  /**
   * Maximum open slots. Above this, the leader with the most open slots loses one, so that a faulty leader displaces
   * only its own slots.
   */
  slotsMax: 64,
  /** Applies to data shreds and to code shreds separately. */
  shredsPerSlotMax: 32_768,
  fecSetsPerSlotMax: 2_048,
  /** Total bytes of shreds. Above this, the largest slot is evicted. */
  bytesMax: 128 * 1024 * 1024,
  slotsAheadMax: 256,
  /** Must be at least `slotsAheadMax`. Otherwise, a source that is ahead causes other sources' shreds to be dropped. */
  slotsBehindMax: 256,
  /** After this long without a verified shred, the window of plausible slots is reset. */
  staleMs: 10_000,
  /** Bytes of packets whose leader is unknown. Above this, the oldest packet is evicted. */
  pendingBytesMax: 8 * 1024 * 1024,
  rejectedMax: 4_096,
  /** Maximum failed verifications per second, each about 0.1 ms. Above this, shreds are deferred. */
  invalidSignaturesPerSecondMax: 2_000,
  /** Bytes of deferred packets. Above this, the least recently used groups of packets are evicted. */
  deferredBytesMax: 16 * 1024 * 1024,
};

export type DeshredLimits = Readonly<typeof deshredLimits>;

/** Limits of the shred stage. Times in milliseconds, sizes in bytes. */
export const shredLimits = {
  /** Requested UDP receive buffer; the kernel may grant less. */
  receiveBufferBytes: 8 * 1024 * 1024,
  /** Number of slots remembered, to drop duplicates. */
  slotsTracked: 64,
  /** Remembered transactions per slot; the same limit applies to batches. Above this, duplicates are possible. */
  seenPerSlotMax: 32_768,
  connectTimeoutMs: 3_000,
  pingIntervalMs: 10_000,
  pongTimeoutMs: 5_000,
  messageMaxBytes: 64 * 1024 * 1024,
  /** HTTP/2 flow-control window. */
  windowBytes: 8 * 1024 * 1024,
  /** A stream without a newer slot for this long is reconnected. */
  stallMs: 10_000,
  reconnectMs: 250,
  reconnectMaxMs: 10_000,
  /** Cached lookup tables, up to 8,248 bytes each. */
  tablesMax: 8_192,
  /** Queued table reads. Above this, unknown tables are not requested. */
  tablesWaitingMax: 10_000,
  tablesGatherMs: 10,
  tableReadsMax: 4,
  /** Minimum time between two reads of a table. */
  tableReadIntervalMs: 10_000,
  scheduleIntervalMs: 30_000,
  /** Doubles with each failure. */
  scheduleRetryMs: 500,
  scheduleRetryMaxMs: 30_000,
};

export type ShredLimits = Readonly<typeof shredLimits>;
