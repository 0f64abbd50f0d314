import type { GrpcStreamLimits } from './grpc-stream.ts';

/**
 * What can be chosen of the source of gRPC streams. Bounds that nobody needs to move stand where they are kept. Times
 * in milliseconds, sizes in bytes.
 */
export type GeyserSourceOptions = GrpcStreamLimits &
  Readonly<{
    /** What servers are asked for: what streams want, put together, or everything always. */
    demand: 'union' | 'full';
    /** How long a request gathers changes before it is sent: servers refuse many in a row. */
    requestDelayMs: number;
    /** How long a silent server is waited for until a request counts as taken. */
    ackTimeoutMs: number;
    /** How long a wish waits at most for the servers to take it. */
    openTimeoutMs: number;
    /** Filters of one request; beyond it, broader ones take their place. */
    filtersMax: number;
    /**
     * Addresses in all filters of one kind of update; beyond it, all updates of that kind are asked for. Where PubSub
     * stands in, subscriptions to accounts and owners; beyond it, wishes are refused.
     */
    addressesMax: number;
    /** Slots before the oldest unfinished one from which a stream that was cut asks for a replay. */
    replayMarginSlots: number;
    /** Slots before the newest one from which a replay is asked for at most; servers keep about 150. */
    replaySlotsMax: number;
    /** Replays for wishes that name a slot, at the same time. */
    backfillsMax: number;
    /** How long one of them may take. */
    backfillTimeoutMs: number;
    /** How long a hole that no server replays may take to be read from blocks. */
    fillTimeoutMs: number;
    /** The longest such hole, in slots. */
    fillSlotsMax: number;
    /** Slots that are remembered, so that nothing is told twice. */
    slotsMax: number;
    /** Updates of one slot that are remembered; what comes beyond it may be told more than once. */
    slotUpdatesMax: number;
    /** Where PubSub stands in, accounts that wait for their blocks; beyond it, those of the oldest slot are lost. */
    waitingAccountsMax: number;
  }>;

/** What holds unless configuration says otherwise. */
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
