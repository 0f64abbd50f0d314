export type UdpShredsConfig = Readonly<{
  host: string;
  port: number;
  /** Addresses and networks; none accepts all. They can be spoofed: only signatures authenticate shreds. */
  senders: readonly string[];
}>;

export type ShredServer = Readonly<{
  name: string;
  /** May contain secrets. */
  url: string;
  /** Request metadata, such as `x-token`. May contain secrets. */
  headers: Readonly<Record<string, string>>;
}>;

/** Sources of the shred stage. All are used at once; the first copy of an item counts. */
export type ShredsConfig = Readonly<{
  udp: UdpShredsConfig | null;
  /** Servers of Jito's `shredstream.ShredstreamProxy/SubscribeEntries`. */
  entries: readonly ShredServer[];
  /** Servers of `geyser.Geyser/SubscribeDeshred`. */
  deshred: readonly ShredServer[];
  /** Other versions are dropped; null reads it from the network's nodes. */
  shredVersion: number | null;
}>;

/** Times in milliseconds. */
export const deshredLimits = {
  /** Slots with shreds; above it, the leader with most slots loses one. */
  slotsMax: 64,
  /** Data shreds, and as many code shreds. */
  shredsPerSlotMax: 32_768,
  fecSetsPerSlotMax: 2_048,
  /** Bytes of shreds; above it, the largest slot is evicted. */
  bytesMax: 128 * 1024 * 1024,
  /** At least as large below as above, so that a source that is ahead excludes no other. */
  slotsAheadMax: 256,
  slotsBehindMax: 256,
  /** Without a verified shred for this long, the plausible slot is reset. */
  staleMs: 10_000,
  /** Packets with an unknown leader; above it, the oldest is evicted. */
  heldBytesMax: 8 * 1024 * 1024,
  rejectedMax: 4_096,
  /** Invalid signatures verified per second, about 0.1 ms each; above it, shreds are deferred. */
  invalidSignaturesPerSecondMax: 2_000,
  /** Above it, the longest-waiting packets are evicted. */
  deferredBytesMax: 16 * 1024 * 1024,
};

export type DeshredLimits = Readonly<typeof deshredLimits>;

/** Limits of the shred stage. Times in milliseconds, sizes in bytes. */
export const shredLimits = {
  /** Requested UDP receive buffer; the kernel may grant less. */
  receiveBufferBytes: 8 * 1024 * 1024,
  slotsTracked: 64,
  /** Transactions, and as many batches; above it, duplicates are possible. */
  seenPerSlotMax: 32_768,
  connectTimeoutMs: 3_000,
  pingIntervalMs: 10_000,
  pongTimeoutMs: 5_000,
  messageMaxBytes: 64 * 1024 * 1024,
  windowBytes: 8 * 1024 * 1024,
  stallMs: 10_000,
  reconnectMs: 250,
  reconnectMaxMs: 10_000,
  /** Cached lookup tables, up to 8,248 bytes each. */
  tablesMax: 8_192,
  /** Queued reads; above it, unknown tables are not requested. */
  tablesWaitingMax: 10_000,
  tablesGatherMs: 10,
  tableReadsMax: 4,
  /** Pause before a missing or failed table is requested again. */
  tableAbsentMs: 10_000,
  scheduleIntervalMs: 30_000,
  /** Doubles with each failure. */
  scheduleRetryMs: 500,
  scheduleRetryMaxMs: 30_000,
};

export type ShredLimits = Readonly<typeof shredLimits>;
