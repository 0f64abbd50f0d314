import type { GrpcStreamLimits } from '../geyser/grpc-stream.ts';

/** Where shreds come in over UDP. */
export type UdpShredsConfig = Readonly<{
  /** The address to listen on, IPv4 or IPv6. */
  host: string;
  /** 0 takes a free one. */
  port: number;
  /**
   * Addresses and networks ("203.0.113.7", "10.0.0.0/8") that packets are taken from; none stands for everyone. A
   * packet's address can be forged: the leader's signature is what proves a shred.
   */
  senders: readonly string[];
}>;

/** A server of gRPC streams that the shred stage listens to. */
export type ShredServer = Readonly<{
  /** What logs call it. Public. */
  name: string;
  /** http (plaintext) or https. May hold secrets: never shown. */
  url: string;
  /** Sent with every stream, such as `x-token`. May hold secrets: never shown. */
  headers: Readonly<Record<string, string>>;
}>;

/** Sources of the shred stage. All that are named are listened to; the first copy of everything wins. */
export type ShredsConfig = Readonly<{
  /** null for no UDP. */
  udp: UdpShredsConfig | null;
  /** Servers of Jito's `shredstream.ShredstreamProxy/SubscribeEntries`. */
  entries: readonly ShredServer[];
  /** Servers of `geyser.Geyser/SubscribeDeshred`. */
  deshred: readonly ShredServer[];
  /** Shreds of other versions are dropped; null learns it from the nodes of the network. */
  shredVersion: number | null;
}>;

/** No source at all. */
export const noShreds: ShredsConfig = { udp: null, entries: [], deshred: [], shredVersion: null };

/** What a deshredder holds at most, whatever arrives. */
export type DeshredLimits = Readonly<{
  /** Slots of which shreds are held; beyond it the leader with most of them loses one. */
  slotsMax: number;
  /** Data shreds of one slot, and likewise code shreds. */
  shredsPerSlotMax: number;
  fecSetsPerSlotMax: number;
  /** Shreds that are held, in bytes; beyond it the slot that holds most is given up. */
  bytesMax: number;
  /**
   * How far above and below the newest plausible slot one may be; below no less than above, so that whoever is ahead
   * leaves nobody behind. Of all slots in between it is remembered whether they are done.
   */
  slotsAheadMax: number;
  slotsBehindMax: number;
  /** Without a verified shred of a plausible slot for so long, what is plausible is found out anew. Milliseconds. */
  staleMs: number;
  /** Packets of slots whose leader is not known yet, in bytes; beyond it the oldest goes. */
  heldBytesMax: number;
  /** Signatures that were found wrong and are remembered, so that the same packet costs less the next time. */
  rejectedMax: number;
  /**
   * Wrong signatures that are found out in a second, a tenth of a millisecond each; shreds that would need more of them
   * looked at wait.
   */
  forgedPerSecondMax: number;
  /** Packets that wait for their signature to be looked at, in bytes; beyond it those go that waited longest. */
  unjudgedBytesMax: number;
}>;

/** What holds unless configuration says otherwise. */
export const deshredLimits: DeshredLimits = {
  slotsMax: 64,
  shredsPerSlotMax: 32_768,
  fecSetsPerSlotMax: 2_048,
  bytesMax: 128 * 1024 * 1024,
  slotsAheadMax: 256,
  slotsBehindMax: 256,
  staleMs: 10_000,
  heldBytesMax: 8 * 1024 * 1024,
  rejectedMax: 4_096,
  forgedPerSecondMax: 2_000,
  unjudgedBytesMax: 16 * 1024 * 1024,
};

/**
 * The limits of the shred stage that configuration may set, but those of `DeshredLimits`. What no operator has a reason
 * to change stands as a constant where it is used. Times in milliseconds, sizes in bytes.
 */
export type ShredLimits = GrpcStreamLimits &
  Readonly<{
    /** What the kernel is asked to hold of packets that were not read yet; it may grant less. */
    receiveBufferBytes: number;
    /** Slots whose transactions and batches are remembered, so that none is told twice. */
    slotsTracked: number;
    /** Transactions, and as many batches, that are remembered of one slot; beyond it they may be told twice. */
    seenPerSlotMax: number;
    /** Lookup tables that are remembered, each up to 8,248 bytes. */
    tablesMax: number;
    /** Unknown tables that wait to be asked for; beyond it, transactions go without until there is room. */
    tablesWaitingMax: number;
    /** How long unknown tables gather before they are asked for together, a hundred at a time. */
    tablesGatherMs: number;
    /** Questions for tables at the same time. */
    tableReadsMax: number;
    /** How long a table that is not there, or could not be read, is not asked for again. */
    tableAbsentMs: number;
    /** Between two looks at the epoch. */
    scheduleIntervalMs: number;
    /** Pause before a schedule that could not be read is asked for again; doubles with each failure. */
    scheduleRetryMs: number;
    scheduleRetryMaxMs: number;
  }>;

/** What holds unless configuration says otherwise. */
export const shredLimits: ShredLimits = {
  receiveBufferBytes: 8 * 1024 * 1024,
  slotsTracked: 64,
  seenPerSlotMax: 32_768,
  connectTimeoutMs: 3_000,
  pingIntervalMs: 10_000,
  pongTimeoutMs: 5_000,
  messageMaxBytes: 64 * 1024 * 1024,
  windowBytes: 8 * 1024 * 1024,
  stallMs: 10_000,
  reconnectMs: 250,
  reconnectMaxMs: 10_000,
  tablesMax: 8_192,
  tablesWaitingMax: 10_000,
  tablesGatherMs: 10,
  tableReadsMax: 4,
  tableAbsentMs: 10_000,
  scheduleIntervalMs: 30_000,
  scheduleRetryMs: 500,
  scheduleRetryMaxMs: 30_000,
};
