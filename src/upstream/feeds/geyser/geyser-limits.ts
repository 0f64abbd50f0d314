import type { GrpcStreamLimits } from './grpc-stream-limits.ts';

/** Every limit of a Geyser feed. Times in milliseconds, sizes in bytes. */
export type GeyserLimits = GrpcStreamLimits &
  Readonly<{
    /** How long a request gathers changes before it is sent: servers refuse many in a row. */
    requestDelayMs: number;
    /** How long at most a large request does, which says all that is wanted again. */
    requestDelayMaxMs: number;
    /** How long `open` waits for a sign that a request is in force. */
    ackTimeoutMs: number;
    /** How long `open` waits for a stream before PubSub is asked instead. */
    openTimeoutMs: number;
    /** Filters of one request: beyond it, subscriptions are refused. */
    filtersMax: number;
    /** Addresses in all filters of one request, each about 46 bytes: servers take 4 MiB. Beyond it, as with filters. */
    addressesMax: number;
    /** Filtered subscriptions of one program that are asked for one by one; beyond it, the whole program is. */
    programFiltersMax: number;
    /** Failures in a row after which the next server is tried. */
    failuresMax: number;
    /** How long all servers may be away before the subscriptions are given up. */
    downMaxMs: number;
    /** Between two looks whether servers that are away are back; until then subscriptions are refused at once. */
    awayMs: number;
    /** Slots that are asked for again after a stream was cut; servers keep about 150. */
    replaySlotsMax: number;
    /** Slots whose messages are remembered, so that none is told twice. */
    seenSlotsMax: number;
    /** Events that wait while something is fetched before the stream is stopped. */
    heldMax: number;
    /** Mints that are remembered. */
    mintsMax: number;
    /** How long a Token-2022 mint is believed: its scale may change. */
    mintMaxAgeMs: number;
    /** How long mints hold the stream back in every `mintRetryMs`; beyond it, accounts are shown in base64. */
    mintWaitMs: number;
    /** Pause before a mint that could not be fetched is asked for again; also how long an answer is waited for. */
    mintRetryMs: number;
    /** Mints that are fetched at the same time. */
    mintFetchesMax: number;
  }>;

/** What holds unless configuration says otherwise. */
export const geyserLimits: GeyserLimits = {
  connectTimeoutMs: 3_000,
  pingIntervalMs: 10_000,
  pongTimeoutMs: 5_000,
  messageMaxBytes: 128 * 1024 * 1024,
  windowBytes: 8 * 1024 * 1024,
  requestDelayMs: 20,
  requestDelayMaxMs: 100,
  ackTimeoutMs: 2_000,
  openTimeoutMs: 3_000,
  filtersMax: 100,
  addressesMax: 20_000,
  programFiltersMax: 8,
  stallMs: 5_000,
  reconnectMs: 250,
  reconnectMaxMs: 10_000,
  failuresMax: 2,
  downMaxMs: 15_000,
  awayMs: 10_000,
  replaySlotsMax: 120,
  seenSlotsMax: 512,
  heldMax: 10_000,
  mintsMax: 10_000,
  mintMaxAgeMs: 60_000,
  mintWaitMs: 500,
  mintRetryMs: 5_000,
  mintFetchesMax: 16,
};
