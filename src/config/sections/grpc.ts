import { z } from 'zod';
import { messageRateOptions } from '../../gateway/limits/message-rate-limiter.ts';
import { grpcServerOptions as server } from '../../servers/grpc/options.ts';
import { geyserHubOptions as hub } from '../../streams/geyser/geyser-hub-options.ts';
import { geyserSourceOptions as source } from '../../upstream/geyser/geyser-source-options.ts';
import type { GrpcStreamLimits } from '../../upstream/geyser/grpc-stream.ts';
import { deshredLimits as deshred, shredLimits as shred } from '../../upstream/shreds/shreds-config.ts';
import { sendersOf } from '../../upstream/shreds/udp-shred-receiver.ts';
import {
  anything,
  HOST,
  HOUR_MS,
  headers,
  httpUrl,
  MIB,
  nodeName,
  oneOf,
  onOff,
  section,
  switchOrAuto,
  text,
  whole,
} from '../field-types.ts';
import { showValue } from '../secrets.ts';

/** The sections of gRPC streams and of the shred stage. */

/** `[grpc]`: the listener of gRPC streams and calls. */
export const grpcSection = section({
  enabled: onOff.default(true),
  host: text(...HOST)
    .nullable()
    .default(null),
  port: whole(0, 65_535).default(50_051),
  tls_cert: anything.nullable().default(null),
  tls_key: anything.nullable().default(null),
  connections_max: whole(1, 1_000_000).default(server.connectionsMax),
  connections_per_address_max: whole(1, 1_000_000).default(server.connectionsPerAddressMax),
  streams_per_connection_max: whole(1, 1_000_000).default(server.streamsPerConnectionMax),
  streams_max: whole(1, 1_000_000).default(server.streamsMax),
  keyless_streams_max: whole(0, 1_000_000).default(server.keylessStreamsMax),
  keyless_streams_per_connection_max: whole(0, 1_000_000).default(server.keylessStreamsPerConnectionMax),
  keyless_stream_max_ms: whole(100, 24 * HOUR_MS).default(server.keylessStreamMaxMs),
  messages_per_second: whole(1, 10_000_000).default(messageRateOptions.messagesPerSecond),
  unary_in_flight_max: whole(1, 1_000_000).default(server.unaryInFlightMax),
  header_list_max_bytes: whole(1_024, MIB).default(server.headerListMaxBytes),
  message_max_bytes: whole(1_024, 1_024 * MIB).default(server.messageMaxBytes),
  small_message_max_bytes: whole(1_024, 1_024 * MIB).default(server.smallMessageMaxBytes),
  unpacked_ratio_max: whole(1, 100_000).default(server.unpackedRatioMax),
  unpacked_free_bytes: whole(1_024, 1_024 * MIB).default(server.unpackedFreeBytes),
  requests_max_bytes: whole(MIB, 64 * 1_024 * MIB).default(server.requestsMaxBytes),
  requests_per_connection_max_bytes: whole(MIB, 64 * 1_024 * MIB).default(
    server.requestsPerConnectionMaxBytes,
  ),
  queue_max_messages: whole(16, 100_000_000).default(server.queueMaxMessages),
  join_ms: whole(0, 1_000).default(server.joinMs),
  queue_max_bytes: whole(64 * 1_024, 16 * 1_024 * MIB).default(server.queueMaxBytes),
  queues_max_bytes: whole(MIB, 64 * 1_024 * MIB).default(server.queuesMaxBytes),
  ping_interval_ms: whole(100, HOUR_MS).default(server.pingIntervalMs),
  keepalive_interval_ms: whole(100, HOUR_MS).default(server.keepaliveIntervalMs),
  keepalive_timeout_ms: whole(100, HOUR_MS).default(server.keepaliveTimeoutMs),
  handshake_timeout_ms: whole(50, 60_000).default(server.handshakeTimeoutMs),
  first_call_timeout_ms: whole(50, HOUR_MS).default(server.firstCallTimeoutMs),
  idle_timeout_ms: whole(100, 24 * HOUR_MS).default(server.idleTimeoutMs),
  request_timeout_ms: whole(100, HOUR_MS).default(server.requestTimeoutMs),
  end_timeout_ms: whole(50, HOUR_MS).default(server.endTimeoutMs),
  control_frames_per_second_max: whole(1, 1_000_000).default(server.controlFramesPerSecondMax),
  cancels_burst_max: whole(1, 1_000_000).default(server.cancelsBurstMax),
  cancels_per_second_max: whole(1, 1_000_000).default(server.cancelsPerSecondMax),
  offender_ms: whole(0, HOUR_MS).default(server.offenderMs),
  offenders_max: whole(1, 1_000_000).default(server.offendersMax),
  window_bytes: whole(64 * 1_024, 1_024 * MIB).default(server.windowBytes),
  compression: oneOf(['never', 'sender', 'accepted']).default(server.compression),
  compression_least_bytes: whole(0, 1_024 * MIB).default(server.compressionLeastBytes),
  compression_max_bytes: whole(0, 1_024 * MIB).default(server.compressionMaxBytes),
});

/** `[replay]`: what is kept of old slots, and told to streams that ask for it. */
export const replaySection = section({
  slots: whole(0, 100_000).default(hub.replaySlots),
  max_bytes: whole(MIB, 1_024 * 1_024 * MIB).default(hub.replayMaxBytes),
  waiting_slots_max: whole(32, 100_000).default(hub.waitingSlotsMax),
  ahead_bytes: whole(1_024, 1_024 * MIB).default(hub.replayAheadBytes),
  pause_ms: whole(1, 60_000).default(hub.replayPauseMs),
  replays_max: whole(1, 100_000).default(hub.replaysMax),
  ready_timeout_ms: whole(100, HOUR_MS).default(hub.replayReadyTimeoutMs),
});

/** `[blocks]`: how blocks are put together for streams. */
export const blocksSection = section({
  turn_ms: whole(1, 1_000).default(hub.blocksTimeSliceMs),
  waiting_max: whole(1, 10_000).default(hub.blocksWaitingMax),
  behind_max_messages: whole(16, 100_000_000).default(hub.behindBlocksMaxMessages),
  behind_max_bytes: whole(64 * 1_024, 16 * 1_024 * MIB).default(hub.behindBlocksMaxBytes),
});

/** What can be set of any stream to a gRPC server, with the defaults that such a stream has. */
export const grpcStreamFields = (limits: GrpcStreamLimits) => ({
  connect_timeout_ms: whole(50, 60_000).default(limits.connectTimeoutMs),
  ping_interval_ms: whole(100, HOUR_MS).default(limits.pingIntervalMs),
  pong_timeout_ms: whole(100, HOUR_MS).default(limits.pongTimeoutMs),
  message_max_bytes: whole(MIB, 2_047 * MIB).default(limits.messageMaxBytes),
  window_bytes: whole(64 * 1_024, 1_024 * MIB).default(limits.windowBytes),
  stall_ms: whole(100, HOUR_MS).default(limits.stallMs),
  reconnect_ms: whole(1, HOUR_MS).default(limits.reconnectMs),
  reconnect_max_ms: whole(1, HOUR_MS).default(limits.reconnectMaxMs),
});

/** `[geyser_source]`: how the Geyser servers of nodes are listened to for gRPC streams. */
export const geyserSourceSection = section({
  demand: oneOf(['union', 'full']).default(source.demand),
  ...grpcStreamFields(source),
  request_delay_ms: whole(0, 60_000).default(source.requestDelayMs),
  ack_timeout_ms: whole(50, HOUR_MS).default(source.ackTimeoutMs),
  open_timeout_ms: whole(50, HOUR_MS).default(source.openTimeoutMs),
  filters_max: whole(1, 1_000_000).default(source.filtersMax),
  addresses_max: whole(1, 100_000_000).default(source.addressesMax),
  replay_margin_slots: whole(0, 1_000).default(source.replayMarginSlots),
  replay_slots_max: whole(1, 100_000).default(source.replaySlotsMax),
  backfills_max: whole(1, 1_000).default(source.backfillsMax),
  backfill_timeout_ms: whole(100, HOUR_MS).default(source.backfillTimeoutMs),
  fill_timeout_ms: whole(100, HOUR_MS).default(source.fillTimeoutMs),
  fill_slots_max: whole(1, 100_000).default(source.fillSlotsMax),
  slots_max: whole(64, 100_000).default(source.slotsMax),
  slot_updates_max: whole(1_000, 100_000_000).default(source.slotUpdatesMax),
  waiting_accounts_max: whole(100, 100_000_000).default(source.waitingAccountsMax),
});

/** A list of servers that tell of the shred stage. */
const shredServers = (kind: string) =>
  z
    .array(section({ url: httpUrl, name: nodeName.optional(), headers: headers.default({}) }), {
      error: `is not a list: write ${kind} = [{ url = "https://host:port" }]`,
    })
    .max(64, { error: 'has more than 64 servers' })
    .default([]);

function isSender(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    sendersOf([value]);
    return true;
  } catch {
    return false;
  }
}

const sender = z.custom<string>(isSender, {
  error: ({ input }) =>
    `${showValue(input)} must be an address or a network such as "203.0.113.7" or "10.0.0.0/8"`,
});

/** `[shreds]`: the sources of the shred stage and what they may hold. */
export const shredsSection = section({
  udp: switchOrAuto.default('auto'),
  udp_host: text(...HOST).default('127.0.0.1'),
  udp_port: whole(0, 65_535).default(0),
  udp_senders: z
    .array(sender, { error: 'is not a list: write udp_senders = ["203.0.113.7"]' })
    .max(1_024, { error: 'has more than 1024 addresses' })
    .default([]),
  shred_version: whole(0, 65_535).nullable().default(null),
  entries: shredServers('entries'),
  deshred: shredServers('deshred'),
  receive_buffer_bytes: whole(64 * 1_024, 1_024 * MIB).default(shred.receiveBufferBytes),
  slots_tracked: whole(8, 10_000).default(shred.slotsTracked),
  seen_per_slot_max: whole(1_024, 10_000_000).default(shred.seenPerSlotMax),
  slots_max: whole(8, 10_000).default(deshred.slotsMax),
  shreds_per_slot_max: whole(64, 32_768).default(deshred.shredsPerSlotMax),
  fec_sets_per_slot_max: whole(1, 32_768).default(deshred.fecSetsPerSlotMax),
  bytes_max: whole(MIB, 64 * 1_024 * MIB).default(deshred.bytesMax),
  slots_ahead_max: whole(8, 100_000).default(deshred.slotsAheadMax),
  slots_behind_max: whole(8, 100_000).default(deshred.slotsBehindMax),
  stale_ms: whole(100, HOUR_MS).default(deshred.staleMs),
  held_bytes_max: whole(0, 1_024 * MIB).default(deshred.heldBytesMax),
  rejected_max: whole(1, 10_000_000).default(deshred.rejectedMax),
  forged_per_second_max: whole(10, 1_000_000).default(deshred.forgedPerSecondMax),
  unjudged_bytes_max: whole(0, 1_024 * MIB).default(deshred.unjudgedBytesMax),
  ...grpcStreamFields(shred),
  tables_max: whole(1, 1_000_000).default(shred.tablesMax),
  tables_waiting_max: whole(1, 1_000_000).default(shred.tablesWaitingMax),
  tables_gather_ms: whole(0, 60_000).default(shred.tablesGatherMs),
  table_reads_max: whole(1, 1_000).default(shred.tableReadsMax),
  table_absent_ms: whole(1, HOUR_MS).default(shred.tableAbsentMs),
  schedule_interval_ms: whole(100, HOUR_MS).default(shred.scheduleIntervalMs),
  schedule_retry_ms: whole(1, HOUR_MS).default(shred.scheduleRetryMs),
  schedule_retry_max_ms: whole(1, HOUR_MS).default(shred.scheduleRetryMaxMs),
});
