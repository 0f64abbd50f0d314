import type { GrpcStreamLimits } from './grpc-stream.ts';

/** Options of the Geyser source. Times in milliseconds, sizes in bytes. */
export type GeyserSourceOptions = GrpcStreamLimits &
  Readonly<{
    /** `union`: the merged filters of all streams. `full`: everything, always. */
    demand: 'union' | 'full';
    /** How long request changes are batched: servers reject frequent requests. */
    requestDelayMs: number;
    /** A request counts as accepted after this long without an answer. */
    ackTimeoutMs: number;
    /** How long a filter set waits for servers to accept it. */
    openTimeoutMs: number;
    /** Filters per request; beyond it, broader filters replace them. */
    filtersMax: number;
    /**
     * Addresses per filter kind; beyond it, all updates of that kind are requested. With the PubSub fallback:
     * account and program subscriptions; beyond it, filter sets are rejected.
     */
    addressesMax: number;
    /** Slots before the oldest incomplete one at which the replay after a disconnect starts. */
    replayMarginSlots: number;
    /** Slots before the newest one at which a replay may start. Servers keep about 150. */
    replaySlotsMax: number;
    /** Concurrent replays for filter sets with `from_slot`. */
    backfillsMax: number;
    /** Timeout of one backfill. */
    backfillTimeoutMs: number;
    /** Timeout for reading a gap from blocks. */
    fillTimeoutMs: number;
    /** Longest gap read from blocks, in slots. */
    fillSlotsMax: number;
    /** Tracked slots, for deduplication. */
    slotsMax: number;
    /** Tracked updates per slot; updates beyond it may be duplicated. */
    slotUpdatesMax: number;
    /** PubSub fallback: accounts waiting for their block; beyond it, those of the oldest slot are lost. */
    waitingAccountsMax: number;
  }>;

export const geyserSourceOptions: GeyserSourceOptions = {
  demand: 'union',
  connectTimeoutMs: 3_000,
  pingIntervalMs: 10_000,
  pongTimeoutMs: 5_000,
  messageMaxBytes: 128 * 1024 * 1024,
  windowBytes: 16 * 1024 * 1024,
  requestDelayMs: 20,
  ackTimeoutMs: 2_000,
  openTimeoutMs: 3_000,
  filtersMax: 100,
  addressesMax: 20_000,
  stallMs: 5_000,
  reconnectMs: 250,
  reconnectMaxMs: 2_000,
  replayMarginSlots: 4,
  replaySlotsMax: 140,
  backfillsMax: 2,
  backfillTimeoutMs: 30_000,
  fillTimeoutMs: 30_000,
  fillSlotsMax: 600,
  slotsMax: 512,
  slotUpdatesMax: 1_000_000,
  waitingAccountsMax: 20_000,
};
