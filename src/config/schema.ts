import { z } from 'zod';
import { OVERLAP_DEFAULT_MS, OVERLAP_MAX_MS } from '../control/keys/change-key.ts';
import { keyFeedOptions } from '../control/keys/key-feed.ts';
import { keyLimits } from '../control/keys/key-register.ts';
import { DEFAULT_PLAN_ID } from '../control/plans.ts';
import { usageJournalOptions } from '../control/usage/usage-journal.ts';
import { usageRetention } from '../control/usage/usage-retention.ts';
import { usageWriterOptions } from '../control/usage/usage-writer.ts';
import { failedAuthOptions } from '../gateway/auth/failed-auth-limiter.ts';
import { defaultPlanLimits as planLimits } from '../gateway/auth/key-record.ts';
import { messageRateOptions } from '../gateway/limits/message-rate-limiter.ts';
import { usageMeterOptions } from '../gateway/metering/usage-meter.ts';
import { subscriptionLimits as holding } from '../gateway/websocket/session.ts';
import { topicHubOptions as topic } from '../gateway/websocket/topic-hub.ts';
import { networks } from '../protocol/call.ts';
import { products } from '../protocol/product.ts';
import { envelopeLimits } from '../protocol/request-envelope.ts';
import { fastHttpOptions as raw } from '../servers/fast-path/context.ts';
import { httpOptions as http } from '../servers/http/options.ts';
import { rpcServerOptions as rpc } from '../servers/rpc/options.ts';
import { webSocketOptions as ws } from '../servers/websocket/server.ts';
import { geyserLimits as grpc } from '../upstream/feeds/geyser/geyser-connection.ts';
import { feedLimits as feed } from '../upstream/feeds/limits.ts';
import { balancingStrategies, defaultUpstreamLimits as upstream } from '../upstream/limits.ts';
import {
  anything,
  cidr,
  HOST,
  HOUR_MS,
  headers,
  httpUrl,
  list,
  MIB,
  methodPrices,
  nodeName,
  oneOf,
  onOff,
  section,
  share,
  text,
  url,
  whole,
  wholeOrAuto,
} from './field-types.ts';
import { localnetDefaults, SLOTS_PER_EPOCH_MAX } from './localnet-defaults.ts';
import { accountsSection, controlApiSection } from './sections/accounts.ts';
import { cacheSection, sessionsSection } from './sections/cache.ts';
import {
  blocksSection,
  geyserSourceSection,
  grpcSection,
  grpcStreamFields,
  replaySection,
  shredsSection,
} from './sections/grpc.ts';
import {
  mailSection,
  noticesSection,
  quotasSection,
  REHEARSAL_PLAN_ID,
  rehearsalPlan,
  sharedSection,
} from './sections/limits.ts';
import {
  confirmationsSection,
  dasPoolSection,
  dasServers,
  ipfsSection,
  kuboSection,
  offChainSection,
  pinningSection,
  restSection,
  semiWalletsSection,
  storageSection,
  uploadsSection,
} from './sections/rest.ts';
import { scannerKeys } from './sections/scanner-keys.ts';
import { storeSection } from './sections/store.ts';
import { senders, sendingSection } from './sections/submission.ts';
import {
  gatewaysSection,
  metricsSection,
  requestLogSection,
  telemetrySection,
} from './sections/telemetry.ts';

/**
 * The fields of the configuration file with their ranges and defaults. What each is for stands in
 * config/solway.example.toml; a test keeps the two equal.
 */

/** Processes that answer at one door. */
export const WORKERS_MAX = 64;

/** `[server.tls]`: without it the door speaks plain text. */
const serverTls = section({
  cert_file: anything,
  key_file: anything,
  min_version: oneOf(['1.2', '1.3']).default('1.2'),
  hsts_max_age_s: whole(0, 100_000_000).default(31_536_000),
});

const server = section({
  host: text(...HOST).default('127.0.0.1'),
  port: whole(0, 65_535).default(8080),
  workers: wholeOrAuto(1, WORKERS_MAX).default(1),
  body_max_bytes: whole(1_024, 256 * MIB).default(rpc.bodyMaxBytes),
  bodies_max_bytes: whole(MIB, 64 * 1_024 * MIB).default(rpc.bodiesMaxBytes),
  batch_calls_max: whole(1, 10_000).default(envelopeLimits.batchMax),
  batch_concurrency: whole(1, 1_000).default(rpc.batchConcurrency),
  batch_answers_max_bytes: whole(1_024, 64 * 1_024 * MIB).default(rpc.batchAnswersMaxBytes),
  answers_max_bytes: whole(MIB, 64 * 1_024 * MIB).default(rpc.answersMaxBytes),
  connections_max: whole(1, 1_000_000).default(http.connectionsMax),
  connections_per_address_max: whole(1, 1_000_000).default(http.connectionsPerAddressMax),
  connections_exempt: list(cidr, 256, 'connections_exempt = ["127.0.0.0/8"]', http.connectionsExempt),
  requests_in_flight_max: whole(1, 1_000_000).default(http.requestsInFlightMax),
  headers_max_bytes: whole(1_024, MIB).default(http.headersMaxBytes),
  headers_timeout_ms: whole(100, HOUR_MS).default(http.headersTimeoutMs),
  request_timeout_ms: whole(100, HOUR_MS).default(http.requestTimeoutMs),
  own_time_max_ms: whole(100, 24 * HOUR_MS).default(http.ownTimeMaxMs),
  raw_door: onOff.default(true),
  raw_head_max_bytes: whole(256, 64 * 1_024).default(raw.headMaxBytes),
  raw_body_max_bytes: whole(256, 64 * 1_024).default(raw.bodyMaxBytes),
  keep_alive_timeout_ms: whole(100, HOUR_MS).default(http.keepAliveTimeoutMs),
  idle_timeout_ms: whole(100, HOUR_MS).default(http.idleTimeoutMs),
  trusted_proxies: list(cidr, 256, 'trusted_proxies = ["10.0.0.0/8"]', []),
  drain_notice_ms: whole(0, HOUR_MS).default(0),
  drain_grace_ms: whole(0, HOUR_MS).default(10_000),
  tls: serverTls.nullable().default(null),
});

const upstreamPool = section({
  attempts_max: whole(1, 200).default(upstream.attemptsMax),
  timeout_ms: whole(100, HOUR_MS).default(upstream.timeoutMs),
  attempt_timeout_ms: whole(50, HOUR_MS).default(upstream.attemptTimeoutMs),
  send_attempt_timeout_ms: whole(50, HOUR_MS).default(upstream.sendAttemptTimeoutMs),
  connect_timeout_ms: whole(50, 60_000).default(upstream.connectTimeoutMs),
  idle_timeout_ms: whole(100, HOUR_MS).default(upstream.idleTimeoutMs),
  connections_max: whole(1, 100_000).default(upstream.connectionsMax),
  in_flight_max: whole(1, 1_000_000).default(upstream.inFlightMax),
  answer_max_bytes: whole(1_024, 2_047 * MIB).default(upstream.answerMaxBytes),
  answers_max_bytes: whole(MIB, 64 * 1_024 * MIB).default(upstream.answersMaxBytes),
  long_answer_from_bytes: whole(64 * 1_024, 2_047 * MIB).default(upstream.longAnswerFromBytes),
  long_answer_stall_ms: whole(100, HOUR_MS).default(upstream.longAnswerStallMs),
  long_answers_max: whole(0, 100_000).default(upstream.longAnswersMax),
  circuit_failures_max: whole(1, 1_000).default(upstream.circuitFailuresMax),
  circuit_open_ms: whole(10, HOUR_MS).default(upstream.circuitOpenMs),
  rest_ms: whole(1, HOUR_MS).default(upstream.restMs),
  rest_max_ms: whole(1, HOUR_MS).default(upstream.restMaxMs),
  rest_wait_max_ms: whole(0, HOUR_MS).default(upstream.restWaitMaxMs),
  cordon_ms: whole(1, HOUR_MS).default(upstream.cordonMs),
  backoff_ms: whole(0, 60_000).default(upstream.backoffMs),
  reconnect_max_ms: whole(0, HOUR_MS).default(upstream.reconnectMaxMs),
  poll_interval_ms: whole(50, HOUR_MS).default(upstream.pollIntervalMs),
  poll_timeout_ms: whole(50, HOUR_MS).default(upstream.pollTimeoutMs),
  lag_max_slots: whole(1, 1_000_000).default(upstream.lagMaxSlots),
  stall_ms: whole(100, HOUR_MS).default(upstream.stallMs),
  slots_per_second_max: whole(1, 1_000_000).default(upstream.slotsPerSecondMax),
  shreds_interval_ms: whole(50, HOUR_MS).default(upstream.shredsIntervalMs),
  history_interval_ms: whole(100, 24 * HOUR_MS).default(upstream.historyIntervalMs),
  choice: oneOf(balancingStrategies).default(upstream.choice),
  sticky_ms: whole(0, HOUR_MS).default(upstream.stickyMs),
  window_ms: whole(100, HOUR_MS).default(upstream.windowMs),
  exclusion_attempts_min: whole(1, 1_000_000).default(upstream.exclusionAttemptsMin),
  failed_share_max: share.default(upstream.failedShareMax),
  throttled_share_max: share.default(upstream.throttledShareMax),
  slow_ms: whole(1, HOUR_MS).default(upstream.slowMs),
  exclusion_max_ms: whole(100, 24 * HOUR_MS).default(upstream.exclusionMaxMs),
  copy_share: share.default(upstream.copyShare),
  copies_max: whole(1, 10_000).default(upstream.copiesMax),
  readmit_answers_min: whole(1, 10_000).default(upstream.readmitAnswersMin),
  readmit_polls_min: whole(1, 10_000).default(upstream.readmitPollsMin),
  hedge_share: share.default(upstream.hedgeShare),
  hedge_burst: whole(1, 100_000).default(upstream.hedgeBurst),
  hedge_quantile: share.default(upstream.hedgeQuantile),
  hedge_min_ms: whole(1, HOUR_MS).default(upstream.hedgeMinMs),
  hedge_max_ms: whole(1, HOUR_MS).default(upstream.hedgeMaxMs),
  capability_ms: whole(100, 24 * HOUR_MS).default(upstream.capabilityMs),
  ask_twice_for_null: onOff.default(upstream.askTwiceForNull),
});

const websocket = section({
  connections_max: whole(1, 1_000_000).default(ws.connectionsMax),
  messages_per_second: whole(1, 10_000_000).default(messageRateOptions.messagesPerSecond),
  calls_in_flight_max: whole(1, 100_000).default(ws.callsInFlightMax),
  calls_waiting_max: whole(0, 1_000_000).default(ws.callsWaitingMax),
  calls_waiting_max_bytes: whole(0, 2_047 * MIB).default(ws.callsWaitingMaxBytes),
  all_calls_in_flight_max: whole(1, 1_000_000).default(ws.allCallsInFlightMax),
  queue_max_bytes: whole(64 * 1_024, 2_047 * MIB).default(ws.queueMaxBytes),
  queues_max_bytes: whole(MIB, 64 * 1_024 * MIB).default(ws.queuesMaxBytes),
  ping_interval_ms: whole(100, HOUR_MS).default(ws.pingIntervalMs),
  pong_timeout_ms: whole(100, HOUR_MS).default(ws.pongTimeoutMs),
  idle_timeout_ms: whole(100, 24 * HOUR_MS).default(ws.idleTimeoutMs),
  close_timeout_ms: whole(50, 60_000).default(ws.closeTimeoutMs),
  look_interval_ms: whole(10, 60_000).default(ws.lookIntervalMs),
  key_subscriptions_max: whole(1, 10_000_000).default(holding.keySubscriptionsMax),
  key_addresses_max: whole(1, 100_000_000).default(holding.keyAddressesMax),
  addresses_max: whole(1, 1_000_000_000).default(topic.addressesMax),
  topics_max: whole(1, 10_000_000).default(topic.topicsMax),
  topics_idle_max: whole(0, 10_000_000).default(topic.idleMax),
  topic_grace_ms: whole(0, HOUR_MS).default(topic.graceMs),
  topic_open_timeout_ms: whole(50, HOUR_MS).default(topic.openTimeoutMs),
  topic_held_max: whole(1, 1_000_000).default(topic.bufferedMax),
});

const feeds = section({
  handshake_timeout_ms: whole(50, 60_000).default(feed.handshakeTimeoutMs),
  message_max_bytes: whole(MIB, 2_047 * MIB).default(feed.messageMaxBytes),
  request_max_bytes: whole(1_024, 256 * MIB).default(feed.requestMaxBytes),
  ping_interval_ms: whole(100, HOUR_MS).default(feed.pingIntervalMs),
  pong_timeout_ms: whole(100, HOUR_MS).default(feed.pongTimeoutMs),
  ack_timeout_ms: whole(50, HOUR_MS).default(feed.ackTimeoutMs),
  open_timeout_ms: whole(50, HOUR_MS).default(feed.openTimeoutMs),
  connection_subscriptions_max: whole(2, 1_000_000).default(feed.connectionSubscriptionsMax),
  node_connections_max: whole(1, 10_000).default(feed.nodeConnectionsMax),
  stall_ms: whole(100, HOUR_MS).default(feed.stallMs),
  lag_max_slots: whole(1, 1_000_000).default(feed.lagMaxSlots),
  reconnect_ms: whole(1, HOUR_MS).default(feed.reconnectMs),
  reconnect_max_ms: whole(1, HOUR_MS).default(feed.reconnectMaxMs),
  moves_max: whole(1, 10_000).default(feed.movesMax),
  gap_timeout_ms: whole(100, HOUR_MS).default(feed.gapTimeoutMs),
  gap_blocks_max: whole(1, 1_000_000).default(feed.gapBlocksMax),
  gap_margin_slots: whole(0, 1_000).default(feed.gapMarginSlots),
  gap_fills_max: whole(1, 10_000).default(feed.gapFillsMax),
  held_max: whole(1, 10_000_000).default(feed.heldMax),
  seen_max: whole(1, 10_000_000).default(feed.seenMax),
  blocks_kept: whole(1, 10_000).default(feed.blocksKept),
  blocks_kept_bytes: whole(MIB, 2_047 * MIB).default(feed.blocksKeptBytes),
  block_reads_max: whole(1, 1_000).default(feed.blockReadsMax),
  follower_lag_max_slots: whole(1, 1_000_000).default(feed.followerLagMaxSlots),
});

const geyser = section({
  ...grpcStreamFields(grpc),
  request_delay_ms: whole(0, 60_000).default(grpc.requestDelayMs),
  request_delay_max_ms: whole(0, 60_000).default(grpc.requestDelayMaxMs),
  ack_timeout_ms: whole(50, HOUR_MS).default(grpc.ackTimeoutMs),
  open_timeout_ms: whole(50, HOUR_MS).default(grpc.openTimeoutMs),
  filters_max: whole(1, 1_000_000).default(grpc.filtersMax),
  addresses_max: whole(1, 1_000_000).default(grpc.addressesMax),
  program_filters_max: whole(1, 1_000_000).default(grpc.programFiltersMax),
  failures_max: whole(1, 1_000).default(grpc.failuresMax),
  down_max_ms: whole(100, HOUR_MS).default(grpc.downMaxMs),
  away_ms: whole(0, HOUR_MS).default(grpc.awayMs),
  replay_slots_max: whole(1, 100_000).default(grpc.replaySlotsMax),
  seen_slots_max: whole(32, 100_000).default(grpc.seenSlotsMax),
  held_max: whole(1, 10_000_000).default(grpc.heldMax),
  mints_max: whole(1, 10_000_000).default(grpc.mintsMax),
  mint_max_age_ms: whole(0, 24 * HOUR_MS).default(grpc.mintMaxAgeMs),
  mint_wait_ms: whole(1, 60_000).default(grpc.mintWaitMs),
  mint_retry_ms: whole(1, HOUR_MS).default(grpc.mintRetryMs),
  mint_fetches_max: whole(1, 1_000).default(grpc.mintFetchesMax),
});

const localnet = section({
  enabled: z
    .never({ error: `is replaced by --dev: leave it out, and use --dev for an embedded ledger` })
    .optional(),
  // The next port is that of PubSub.
  rpc_port: whole(0, 65_534).default(0),
  slot_ms: whole(10, 60_000).default(localnetDefaults.slotMs),
  slots_per_epoch: whole(32, SLOTS_PER_EPOCH_MAX).default(localnetDefaults.slotsPerEpoch),
  faucet_sol: whole(1, 500_000_000).default(localnetDefaults.faucetSol),
  history_slots_max: whole(200, 2 ** 48).default(localnetDefaults.historySlotsMax),
});

/** In place of a WebSocket address: the node has none. */
export const WS_OFF = 'off';

/** A node behind the service. */
export const upstreamNode = section({
  network: oneOf(networks).optional(),
  name: nodeName.optional(),
  url: httpUrl,
  ws: url(['ws:', 'wss:'], 'a ws(s) URL or "off"', 'wss://host/path', [WS_OFF]).nullable().default(null),
  grpc: httpUrl.nullable().default(null),
  headers: headers.default({}),
  requests_per_second: whole(1, 10_000_000).nullable().default(null),
  requests_burst: whole(1, 10_000_000).nullable().default(null),
  pipelining: whole(1, 16).default(1),
});

const plan = section({
  name: text(/^\P{C}{1,64}$/u, '1 to 64 printable characters').optional(),
  rpc_per_second: whole(0, 10_000_000).default(planLimits.rpcPerSecond),
  rpc_burst: whole(1, 10_000_000).default(planLimits.rpcBurst),
  ws_connections_max: whole(0, 1_000_000).default(planLimits.wsConnectionsMax),
  ws_subscriptions_max: whole(1, 1_000_000).default(planLimits.wsSubscriptionsMax),
  ws_message_max_bytes: whole(1_024, 256 * MIB).default(planLimits.wsMessageMaxBytes),
  grpc_streams_max: whole(0, 1_000_000).default(planLimits.grpcStreamsMax),
  grpc_filters_max: whole(1, 1_000_000).default(planLimits.grpcFiltersMax),
  grpc_blocks_max: whole(0, 1_000_000).default(planLimits.grpcBlocksMax),
  grpc_pubkeys_max: whole(0, 100_000_000).default(planLimits.grpcPubkeysMax),
  grpc_cuckoo_max_bytes: whole(0, 2_047 * MIB).default(planLimits.grpcCuckooMaxBytes),
  monthly_credits: whole(0, 2 ** 48).default(planLimits.monthlyCredits),
  quota_is_hard: onOff.default(planLimits.quotaIsHard),
  stream_credits: whole(0, 1_000_000).default(planLimits.streamCredits),
  prices: methodPrices.default({}),
});

const plans = z
  .record(z.string(), plan, { error: 'is not a table: write plans as [plans.default]' })
  .refine((table) => Object.keys(table).every((id) => /^[a-z0-9][a-z0-9-]{0,31}$/.test(id)), {
    error: 'a plan is named with 1 to 32 small letters, digits and dashes: [plans.my-plan]',
  });

const keys = section({
  // The first start makes a key of each product.
  keys_max: whole(Object.keys(products).length, 10_000_000).default(1_000_000),
  customer_keys_max: whole(1, 10_000_000).default(keyLimits.customerKeysMax),
  poll_interval_ms: whole(50, 1_000).default(keyFeedOptions.pollIntervalMs),
  usage_flush_interval_ms: whole(50, 60_000).default(usageWriterOptions.flushIntervalMs),
  usage_rows_max: whole(1_000, 10_000_000).default(usageMeterOptions.rowsMax),
  usage_journal_max_bytes: whole(MIB, 64 * 1_024 * MIB).default(usageJournalOptions.maxBytes),
  usage_minutes_days: whole(1, 36_500).default(usageRetention.minutesDays),
  usage_hours_days: whole(1, 36_500).default(usageRetention.hoursDays),
  usage_retention_days: whole(1, 36_500).default(usageRetention.daysDays),
  wrong_keys_per_minute: whole(1, 1_000_000).default(failedAuthOptions.wrongKeysPerMinute),
  wrong_keys_refused_ms: whole(100, HOUR_MS).default(failedAuthOptions.blockMs),
  wrong_keys_exempt: list(cidr, 256, 'wrong_keys_exempt = ["127.0.0.0/8"]', failedAuthOptions.exempt),
  addresses_max: whole(100, 10_000_000).default(failedAuthOptions.addressesMax),
  overlap_hours: whole(0, OVERLAP_MAX_MS / HOUR_MS).default(OVERLAP_DEFAULT_MS / HOUR_MS),
  revoke_leaked: onOff.default(false),
  scanner_keys: scannerKeys,
});

const logLevels = ['auto', 'trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** A table that may be left out: its fields then have their defaults. */
const optional = <Schema extends z.ZodType>(schema: Schema) => z.preprocess((value) => value ?? {}, schema);

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Plans, among them always one so small that its limits are met at once; what the file says of it comes first. */
const withRehearsal = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value = {}) => {
    if (!isTable(value)) return value;
    const { [REHEARSAL_PLAN_ID]: written = {} } = value;
    return isTable(written) ? { ...value, [REHEARSAL_PLAN_ID]: { ...rehearsalPlan, ...written } } : value;
  }, schema);

/** The whole file. Its mistakes are told in the words of `configuration-fields.ts`. */
export const configurationSchema = section({
  data_dir: anything.default('solway-data'),
  dev: onOff.default(false),
  server: optional(server),
  networks: optional(section({ default: oneOf(networks).default('mainnet-beta') })),
  upstream: z
    .array(upstreamNode, { error: 'is not a list of tables: write each node under its own [[upstream]]' })
    .max(256, { error: 'has more than 256 nodes' })
    .default([]),
  upstream_pool: optional(upstreamPool),
  cache: optional(cacheSection),
  sessions: optional(sessionsSection),
  sender: senders,
  sending: optional(sendingSection),
  websocket: optional(websocket),
  feeds: optional(feeds),
  geyser: optional(geyser),
  grpc: optional(grpcSection),
  replay: optional(replaySection),
  blocks: optional(blocksSection),
  geyser_source: optional(geyserSourceSection),
  shreds: optional(shredsSection),
  rest: optional(restSection),
  off_chain: optional(offChainSection),
  das: dasServers,
  das_pool: optional(dasPoolSection),
  confirmations: optional(confirmationsSection),
  storage: optional(storageSection),
  uploads: optional(uploadsSection),
  ipfs: optional(ipfsSection),
  kubo: optional(kuboSection),
  pinning: optional(pinningSection),
  semi_wallets: optional(semiWalletsSection),
  localnet: optional(localnet),
  store: optional(storeSection),
  keys: optional(keys),
  accounts: optional(accountsSection),
  control_api: optional(controlApiSection),
  shared: optional(sharedSection),
  quotas: optional(quotasSection),
  notices: optional(noticesSection),
  mail: optional(mailSection),
  request_log: optional(requestLogSection),
  gateways: optional(gatewaysSection),
  metrics: optional(metricsSection),
  telemetry: optional(telemetrySection),
  plans: withRehearsal(plans.transform((table) => ({ [DEFAULT_PLAN_ID]: plan.parse({}), ...table }))),
  log: optional(
    section({ level: oneOf(logLevels).default('auto'), file: anything.nullable().default(null) }),
  ),
});

/** The file's own names and nesting, complete with defaults. */
export type RawConfiguration = z.output<typeof configurationSchema>;
