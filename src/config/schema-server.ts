import { semiWalletLimits } from '../control/semi-wallets/key-derivation.ts';
import { storageLimits } from '../control/storage/file-store.ts';
import { pinningServiceLimits } from '../control/storage/pinning-backend.ts';
import { storageServiceLimits } from '../control/storage/storage-service.ts';
import { messageRateOptions } from '../gateway/limits/message-rate-limiter.ts';
import { confirmationLimits } from '../gateway/rest/confirmations.ts';
import { restLimits } from '../gateway/rest/limits.ts';
import { sessionMinSlotsOptions } from '../gateway/session-min-slots.ts';
import { otlpOptions } from '../gateway/telemetry/otlp-exporter.ts';
import { requestCounterOptions } from '../gateway/telemetry/request-counters.ts';
import { subscriptionLimits } from '../gateway/websocket/subscription-limits.ts';
import { topicHubOptions as topic } from '../gateway/websocket/topic-hub.ts';
import { envelopeLimits } from '../protocol/request-envelope.ts';
import { compressionOptions } from '../servers/compression.ts';
import { fastHttpOptions } from '../servers/fast-path/context.ts';
import { grpcServerOptions as grpc } from '../servers/grpc/options.ts';
import { httpOptions as http } from '../servers/http/options.ts';
import { ipfsServerOptions } from '../servers/ipfs/server.ts';
import { uploadLimits } from '../servers/rest/multipart.ts';
import { restServerOptions } from '../servers/rest/server.ts';
import { rpcServerOptions as rpc } from '../servers/rpc/options.ts';
import { webSocketOptions as ws } from '../servers/websocket/options.ts';
import { geyserHubOptions as hub } from '../streams/geyser/geyser-hub-options.ts';
import { monotonicReadsLimits } from '../upstream/middleware/monotonic-reads.ts';
import { limit, omit, option, pick, required, section } from './option.ts';
import {
  cidr,
  customNetworks,
  DAY_MS,
  GIB,
  gatewayUrl,
  HOUR_MS,
  headers,
  host,
  httpUrl,
  line,
  list,
  MIB,
  network,
  nodeName,
  oneOf,
  onOff,
  path,
  ratio,
  table,
  text,
  whole,
  wholeOrAuto,
} from './value-types.ts';

export const WORKERS_MAX = 64;

const tlsRows = {
  cert_file: required(path, 'Certificate chain in PEM; reread when it changes.', {
    common: true,
    example: '"/etc/solway/cert.pem"',
  }),
  key_file: required(path, 'Private key in PEM.', { common: true, example: '"/etc/solway/key.pem"' }),
  min_version: option(oneOf(['1.2', '1.3']), '1.2', 'Minimum TLS version.'),
  hsts_max_age_s: option(
    whole(0, 100_000_000),
    31_536_000,
    'max-age of the Strict-Transport-Security header in seconds; 0 omits the header.',
  ),
};

export const server = section(
  'HTTP listener: JSON-RPC, WebSocket, REST, dashboard.',
  {
    host: option(host, '127.0.0.1', 'Address to listen on; 0.0.0.0 for every interface.', {
      common: true,
      env: 'SOLWAY_HOST',
      flag: 'host',
    }),
    port: option(whole(0, 65_535), 8080, 'Port to listen on; 0 picks a free port.', {
      common: true,
      env: 'SOLWAY_PORT',
      flag: 'port',
    }),
    workers: option(wholeOrAuto(1, WORKERS_MAX), 1, 'Worker processes; "auto" starts one per CPU.', {
      common: true,
      flag: 'workers',
    }),
    trusted_proxies: option(
      list(cidr, 256, 'trusted_proxies = ["10.0.0.0/8"]'),
      [],
      'Proxies whose X-Forwarded-For is trusted.',
      { common: true, reload: true },
    ),
    body_max_bytes: limit(whole(1_024, 256 * MIB), 'Maximum size of a JSON-RPC request body.'),
    bodies_max_bytes: limit(
      whole(MIB, 64 * GIB),
      'Maximum memory for all request bodies; above it, requests get OVERLOADED.',
    ),
    responses_max_bytes: limit(
      whole(MIB, 64 * GIB),
      'Maximum memory for unsent responses; above it, calls get OVERLOADED.',
    ),
    batch_calls_max: limit(whole(1, 10_000), 'Maximum calls in one JSON-RPC batch.'),
    connections_max: limit(whole(1, 1_000_000), 'Maximum open connections.'),
    connections_per_address_max: limit(
      whole(1, 1_000_000),
      'Maximum open connections per client address (IPv6: per /64).',
    ),
    connections_exempt: option(
      list(cidr, 256, 'connections_exempt = ["127.0.0.0/8"]'),
      [...http.connectionsExempt],
      'Addresses exempt from connections_per_address_max, for HTTP and gRPC; trusted proxies always are.',
    ),
    requests_in_flight_max: limit(
      whole(1, 1_000_000),
      'Maximum concurrent requests; above it, requests get OVERLOADED.',
    ),
    request_timeout_ms: limit(whole(100, HOUR_MS), 'Timeout for a client to send a request.'),
    keep_alive_timeout_ms: limit(
      whole(100, HOUR_MS),
      'Timeout of idle connections; set it longer than the idle timeout of a reverse proxy.',
    ),
    fast_path: option(onOff, true, 'Serve plain JSON-RPC requests without the HTTP server of Node.js.'),
    compression_min_bytes: limit(
      whole(0, 256 * MIB),
      'Minimum size of JSON-RPC and REST results to compress with zstd or gzip; 0 disables compression.',
      { reload: true },
    ),
    status_page: option(onOff, false, 'Serve a public status page at /status.'),
    drain_notice_ms: option(
      whole(0, HOUR_MS),
      0,
      'How long /ready returns 503 after SIGTERM while requests are still served.',
    ),
    drain_grace_ms: option(
      whole(0, HOUR_MS),
      10_000,
      'How long in-flight requests may finish after drain_notice_ms.',
    ),
    region: option(
      nodeName,
      null,
      'Region of this gateway. Within a priority, nodes of other regions are used last.',
      { env: 'SOLWAY_REGION', example: '"fra"' },
    ),
    tls: option(table(tlsRows), null, 'TLS of the HTTP listener; if unset, plaintext.', { rows: tlsRows }),
  },
  {
    ...omit(rpc, ['path', 'network', 'served', 'envelope', 'compression', 'proxies']),
    ...compressionOptions,
    ...omit(http, ['host', 'port', 'tls', 'proxies', 'connectionsExempt']),
    batchCallsMax: envelopeLimits.batchMax,
    fastPathHeadMaxBytes: fastHttpOptions.headMaxBytes,
    fastPathBodyMaxBytes: fastHttpOptions.bodyMaxBytes,
  },
);

export const networksSection = section(
  'Networks.',
  {
    default: option(network, 'mainnet-beta', 'Network for /v1/rpc and for nodes without a network setting.', {
      common: true,
      env: 'SOLWAY_NETWORK',
    }),
    custom: option(
      customNetworks,
      {},
      'Networks besides mainnet-beta, devnet and testnet, each with the genesis hash that its nodes must have, or "".',
      { example: '{ staging = "" }' },
    ),
  },
  {},
);

export const sessions = section(
  'Monotonic reads (header x-solway-session).',
  { idle_ms: limit(whole(1_000, DAY_MS), 'How long an unused session is retained.') },
  { ...sessionMinSlotsOptions, waitMs: monotonicReadsLimits.waitMs },
);

export const websocket = section(
  'WebSocket connections and subscriptions.',
  {
    connections_max: limit(whole(1, 1_000_000), 'Maximum open connections.', { reload: true }),
    messages_per_second: limit(
      whole(1, 10_000_000),
      'Maximum client messages per second per key; plans with a higher call rate allow more.',
      { reload: true },
    ),
    key_subscriptions_max: limit(whole(1, 10_000_000), 'Maximum subscriptions per key.', { reload: true }),
    queue_max_bytes: limit(
      whole(64 * 1_024, 2_047 * MIB),
      'Maximum bytes queued for one client; above it, the client gets LAGGING.',
    ),
    queues_max_bytes: limit(
      whole(MIB, 64 * GIB),
      'Maximum memory for all queues; above it, the slowest clients are closed.',
    ),
    idle_timeout_ms: limit(
      whole(100, DAY_MS),
      'Timeout of connections without a subscription, call or ping.',
    ),
  },
  {
    ...pick(ws, ['connectionsMax', 'queueMaxBytes', 'queuesMaxBytes', 'idleTimeoutMs']),
    ...pick(ws, ['callsInFlightMax', 'callsWaitingMax', 'callsWaitingMaxBytes', 'allCallsInFlightMax']),
    ...pick(ws, ['pingIntervalMs', 'pongTimeoutMs', 'closeTimeoutMs', 'checkIntervalMs']),
    messagesPerSecond: messageRateOptions.messagesPerSecond,
    ...subscriptionLimits,
    ...pick(topic, ['addressesMax', 'topicsMax']),
    topicsIdleMax: topic.idleMax,
    topicGraceMs: topic.graceMs,
    topicOpenTimeoutMs: topic.openTimeoutMs,
    topicBufferedMax: topic.bufferedMax,
  },
);

export const grpcSection = section(
  'gRPC listener: Yellowstone and shred-stage streams.',
  {
    enabled: option(onOff, true, 'Open the gRPC listener.', { common: true }),
    host: option(host, null, 'Address to listen on. Default: server.host.', { example: '"127.0.0.1"' }),
    port: option(whole(0, 65_535), 50_051, 'Port to listen on; 0 picks a free port.', {
      common: true,
      env: 'SOLWAY_GRPC_PORT',
      flag: 'grpc-port',
    }),
    tls_cert: option(path, null, 'Certificate chain in PEM; if unset, plaintext.', {
      common: true,
      example: '"/etc/solway/cert.pem"',
    }),
    tls_key: option(path, null, 'Private key in PEM.', { common: true, example: '"/etc/solway/key.pem"' }),
    connections_max: limit(whole(1, 1_000_000), 'Maximum open connections.'),
    connections_per_address_max: limit(
      whole(1, 1_000_000),
      'Maximum open connections per client address (IPv6: per /64).',
    ),
    streams_max: limit(whole(1, 1_000_000), 'Maximum open streams.'),
    messages_per_second: limit(
      whole(1, 10_000_000),
      'Maximum client messages per second per key; plans with a higher call rate allow more.',
    ),
    queue_max_bytes: limit(
      whole(64 * 1_024, 16 * GIB),
      'Maximum bytes queued for one client; above it, its stream ends.',
    ),
    queues_max_bytes: limit(
      whole(MIB, 64 * GIB),
      'Maximum memory for all queues; above it, the slowest streams end.',
    ),
    compression: limit(
      oneOf(['never', 'sender', 'accepted']),
      'Compress for no client, for those that compress requests ("sender"), or for all that accept it.',
    ),
    abuse_block_ms: limit(
      whole(0, HOUR_MS),
      'How long an address is blocked after abuse; set 0 behind a shared proxy.',
    ),
  },
  {
    ...omit(grpc, ['host', 'port', 'tls', 'proxies', 'connectionsExempt', 'drainNoticeMs', 'drainGraceMs']),
    messagesPerSecond: messageRateOptions.messagesPerSecond,
  },
);

export const replay = section(
  'Replay of old slots to gRPC streams (from_slot).',
  {
    slots: option(whole(0, 100_000), hub.replaySlots, 'Slots retained; 0 disables replay.'),
    max_bytes: option(
      whole(MIB, 1_024 * GIB),
      hub.replayMaxBytes,
      'Maximum memory for retained slots; above it, the oldest are evicted.',
    ),
  },
  omit(hub, ['replaySlots', 'replayMaxBytes', 'version']),
);

export const rest = section(
  'REST interface.',
  {
    requests_per_minute: limit(
      whole(1, 10_000_000),
      'Maximum requests per minute per key and group of endpoints.',
      { reload: true },
    ),
    key_in_flight_max: limit(whole(1, 1_000_000), 'Maximum concurrent requests per key.', { reload: true }),
    timeout_ms: limit(whole(100, HOUR_MS), 'Timeout of a request.', { reload: true }),
    history_days: option(whole(1, 36_500), 4, 'Days that transaction/history reaches back.'),
    domain_suffix: option(
      text(/^\.[a-z0-9-]{1,32}$/, 'a dot and a name, such as ".sol"'),
      '.sol',
      'Suffix of domain names.',
    ),
    token_list: option(path, null, 'JSON list of known tokens that overrides their own metadata.', {
      example: '"tokens.json"',
    }),
  },
  { ...restLimits, ...pick(restServerOptions, ['bodyMaxBytes', 'bodiesMaxBytes']) },
);

export const storage = section(
  'Stored files, in data_dir/files.',
  {
    gateway: option(
      gatewayUrl,
      null,
      'Public address of /ipfs/, on a host name of its own. Default: the address of the service.',
      { example: '"https://files.example.com/ipfs/"' },
    ),
    file_max_bytes: limit(whole(1_024, 1_024 * GIB), 'Maximum file size.'),
    total_max_bytes: limit(
      whole(1_024, 1_048_576 * GIB),
      'Maximum total size of all files; ignored with Kubo.',
    ),
  },
  storageLimits,
);

export const uploads = section(
  'Uploads of files.',
  { upload_max_ms: limit(whole(100, DAY_MS / 2), 'Timeout of an upload.') },
  omit(uploadLimits, ['fileMaxBytes']),
);

export const ipfs = section(
  'Gateway to stored files (/ipfs/).',
  {
    open_max: limit(whole(1, 100_000), 'Maximum concurrent responses.'),
    open_per_address_max: limit(
      whole(1, 100_000),
      'Maximum concurrent responses per address. Behind a proxy, all clients share one: use open_max.',
    ),
  },
  ipfsServerOptions,
);

export const kubo = section(
  'Kubo node that stores the files instead of the disk; requires storage.gateway.',
  {
    url: option(httpUrl, null, 'RPC address.', { secret: true, example: '"http://127.0.0.1:5001"' }),
    authorization: option(line, null, 'Authorization header.', {
      secret: true,
      example: '"env:KUBO_AUTHORIZATION"',
    }),
  },
  storageServiceLimits,
);

export const pinning = section(
  'Service that pins the stored files (IPFS Pinning Service API).',
  {
    url: option(httpUrl, null, 'Base URL of the API, without /pins.', {
      secret: true,
      example: '"https://pinning.example.com"',
    }),
    token: option(line, null, 'Bearer token.', { secret: true, example: '"env:PINNING_TOKEN"' }),
    origins: option(
      list(line, 20, 'origins = ["/dns4/files.example.com/tcp/4001/p2p/…"]'),
      [],
      'Multiaddrs from which the service fetches blocks.',
    ),
  },
  pinningServiceLimits,
);

export const semiWallets = section(
  "Keypairs encrypted with their owners' passwords.",
  { iterations: limit(whole(600_000, 100_000_000), 'PBKDF2 iterations for new passwords.') },
  semiWalletLimits,
);

export const metrics = section(
  'Prometheus metrics at GET /metrics.',
  {
    open: option(onOff, false, 'Serve metrics without a token.', { common: true }),
    token: option(line, null, 'Bearer token required to read metrics.', {
      common: true,
      secret: true,
      example: '"env:METRICS_TOKEN"',
    }),
    keys_max: limit(whole(0, 100_000), 'Maximum keys with their own metric series; the others share one.'),
  },
  pick(requestCounterOptions, ['keysMax']),
);

export const telemetry = section(
  'OpenTelemetry spans over OTLP/HTTP.',
  {
    otlp_url: option(httpUrl, null, 'Collector URL; /v1/traces is appended if it has no path.', {
      common: true,
      secret: true,
      example: '"http://127.0.0.1:4318"',
    }),
    headers: option(headers, {}, 'Headers sent to the collector.', {
      secret: true,
      example: '{ "authorization" = "env:OTLP_AUTHORIZATION" }',
    }),
    sample_ratio: option(ratio, 0.01, 'Share of requests that are traced.'),
  },
  otlpOptions,
);

const logLevels = ['auto', 'trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const log = section(
  'Log.',
  {
    level: option(oneOf(logLevels), 'auto', '"auto": info, or warn on a terminal.', {
      common: true,
      reload: true,
      env: 'SOLWAY_LOG_LEVEL',
      flag: 'log-level',
    }),
    file: option(path, null, 'Log file. Default: standard error.', {
      common: true,
      env: 'SOLWAY_LOG_FILE',
      example: '"solway.log"',
    }),
  },
  {},
);

export const confirmations = section('', {}, confirmationLimits);
