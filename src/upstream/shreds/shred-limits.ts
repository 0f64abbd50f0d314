import type { GrpcStreamLimits } from '../feeds/geyser/grpc-stream-limits.ts';

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
