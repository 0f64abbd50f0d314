import { defaultUpkeepLimits } from '../../packages/localnet/src/bank/ledger-upkeep.ts';
import { SLOTS_PER_EPOCH_MAX as slotsPerEpochMax } from '../../packages/localnet/src/genesis/genesis.ts';
import { networks } from '../protocol/call.ts';
import { dasLimits } from '../upstream/das/das-client.ts';
import { geyserLimits } from '../upstream/feeds/geyser/limits.ts';
import { feedLimits } from '../upstream/feeds/limits.ts';
import { geyserSourceOptions } from '../upstream/geyser/geyser-source-options.ts';
import { balancingStrategies, defaultUpstreamLimits as upstream } from '../upstream/limits.ts';
import { defaultCacheTtls as ttls } from '../upstream/middleware/cache-policy.ts';
import { callKeyLimits } from '../upstream/middleware/call-key.ts';
import { redisCacheLimits } from '../upstream/middleware/redis-cache.ts';
import { coalescerLimits } from '../upstream/middleware/request-coalescer.ts';
import { memoryCacheLimits } from '../upstream/middleware/response-cache.ts';
import { SLOT_CACHE_FRESH_MS } from '../upstream/middleware/slot-cache.ts';
import { offChainLimits, offChainRules } from '../upstream/off-chain/limits.ts';
import { deshredLimits, shredLimits } from '../upstream/shreds/shreds-config.ts';
import { submitLimits } from '../upstream/submit/submission.ts';
import { option, optional, pick, required, section, tables } from './option.ts';
import {
  connectableNetwork,
  DAY_MS,
  GIB,
  gatewayUrl,
  HOUR_MS,
  headers,
  host,
  httpUrl,
  list,
  MIB,
  nodeName,
  oneOf,
  onOff,
  ratio,
  redisUrl,
  shredSender,
  switchOrAuto,
  tableList,
  whole,
  wsUrl,
} from './value-types.ts';

/** Options of nodes, caches and feeds. */

const NODES_MAX = 256;
const SERVERS_MAX = 64;

const networkRow = optional(oneOf(networks), 'Default: networks.default.', { example: '"mainnet-beta"' });
const headersRow = option(headers, {}, 'Sent with every request.', {
  secret: true,
  example: '{ "x-token" = "env:NODE_TOKEN" }',
});

export const upstreamRows = {
  url: required(httpUrl, 'JSON-RPC over HTTP.', {
    common: true,
    secret: true,
    example: '"https://host/path"',
  }),
  network: { ...networkRow, common: true },
  name: optional(nodeName, 'Name in logs and metrics. Default: network and position.', {
    example: '"mainnet-beta-1"',
  }),
  ws: option(wsUrl, null, 'PubSub WebSocket, or "off". Default: derived from url as clients do.', {
    common: true,
    secret: true,
    example: '"wss://host/path"',
  }),
  grpc: option(httpUrl, null, 'Yellowstone gRPC.', {
    common: true,
    secret: true,
    example: '"https://host:10000"',
  }),
  headers: { ...headersRow, common: true },
  requests_per_second: option(
    whole(1, 10_000_000),
    null,
    'Rate limit towards the node, polls included; not set: none.',
    { example: '100' },
  ),
  requests_burst: option(whole(1, 10_000_000), null, 'Burst above it. Default: one second of requests.', {
    example: '200',
  }),
  pipelining: option(whole(1, 16), 1, 'Light reads sent over one connection without waiting for responses.', {
    example: '4',
  }),
};

export const upstreams = tables('A node. Any number, for any of the networks.', upstreamRows, {
  max: NODES_MAX,
  item: 'node',
  reload: true,
});

export const upstreamPool = section(
  'Calls to nodes.',
  {
    timeout_ms: option(whole(100, HOUR_MS), upstream.timeoutMs, 'Time for a call, all attempts together.', {
      reload: true,
    }),
    attempt_timeout_ms: option(
      whole(50, HOUR_MS),
      upstream.attemptTimeoutMs,
      'Time for one attempt that another may follow.',
      { reload: true },
    ),
    load_balancing: option(
      oneOf(balancingStrategies),
      upstream.loadBalancing,
      '"spread" over nodes of like latency, or "sticky".',
      { reload: true },
    ),
    lag_max_slots: option(
      whole(1, 1_000_000),
      upstream.lagMaxSlots,
      'Slots that a node may be behind before it is ejected.',
      { reload: true },
    ),
    hedge_ratio: option(
      ratio,
      upstream.hedgeRatio,
      'Share of reads that may be sent to a second node when the first is slow; 0 for none.',
      { reload: true },
    ),
    confirm_null_results: option(
      onOff,
      upstream.confirmNullResults,
      'Ask a second node when the first does not have a transaction.',
      { reload: true },
    ),
    connections_max: option(whole(1, 100_000), upstream.connectionsMax, 'Open connections per node.', {
      reload: true,
    }),
    response_max_bytes: option(
      whole(1_024, 2_047 * MIB),
      upstream.responseMaxBytes,
      'Longest response of a node.',
      { reload: true },
    ),
    response_buffer_max_bytes: option(
      whole(MIB, 64 * GIB),
      upstream.responseBufferMaxBytes,
      'Memory for responses while they arrive; beyond it: OVERLOADED.',
      { reload: true },
    ),
  },
  upstream,
);

const serverRows = {
  url: required(httpUrl, 'Address.', { secret: true, example: '"https://host/path"' }),
  network: networkRow,
  name: optional(nodeName, 'Name in logs. Default: kind and position.', { example: '"endpoint-1"' }),
  headers: headersRow,
};

export const senders = tables('An endpoint that accepts sendTransaction only.', serverRows, {
  max: SERVERS_MAX,
  item: 'endpoint',
});

export const dasServers = tables('A server of the Digital Asset Standard API.', serverRows, {
  max: SERVERS_MAX,
  item: 'server',
});

export const transactions = section(
  'Sent transactions.',
  {
    rebroadcast_interval_ms: option(
      whole(50, HOUR_MS),
      submitLimits.rebroadcastIntervalMs,
      'Time between rebroadcasts of a transaction.',
      { reload: true },
    ),
    pending_max: option(
      whole(0, 10_000_000),
      submitLimits.pendingMax,
      'Transactions tracked until they land; beyond it the most rebroadcast are dropped.',
      { reload: true },
    ),
  },
  submitLimits,
);

export const cache = section(
  'Responses without a call to a node.',
  {
    enabled: option(onOff, true, 'Cache responses.'),
    coalesce: option(onOff, true, 'Send identical concurrent calls once.'),
    slot_cache: option(onOff, true, 'Answer getHealth and getSlot from recently observed slots.'),
    max_bytes: option(whole(MIB, 64 * GIB), memoryCacheLimits.maxBytes, 'Memory of the cache.'),
    redis_url: option(redisUrl, null, 'Shared cache, with an eviction policy; not the server of [shared].', {
      secret: true,
      example: '"redis://host:6379"',
    }),
  },
  {
    slotMs: ttls.slotMs,
    epochMs: ttls.shortMs,
    finalMs: ttls.finalMs,
    slotCacheFreshMs: SLOT_CACHE_FRESH_MS,
    ...pick(memoryCacheLimits, ['entriesMax', 'answerMaxBytes']),
    ...callKeyLimits,
    ...coalescerLimits,
    redisWaitMs: redisCacheLimits.waitMs,
    redisBackoffMs: redisCacheLimits.backoffMs,
    redisAnswerMaxBytes: redisCacheLimits.answerMaxBytes,
    redisPendingMaxBytes: 32 * MIB,
  },
);

export const feeds = section(
  'PubSub connections to nodes.',
  {
    connection_subscriptions_max: option(
      whole(2, 1_000_000),
      feedLimits.connectionSubscriptionsMax,
      'Subscriptions on one connection.',
    ),
    node_connections_max: option(whole(1, 10_000), feedLimits.nodeConnectionsMax, 'Connections to one node.'),
    block_cache_max_bytes: option(
      whole(MIB, 2_047 * MIB),
      feedLimits.blockCacheMaxBytes,
      'Memory for blocks read to fill gaps and feed subscriptions.',
    ),
  },
  feedLimits,
);

export const geyser = section(
  'Geyser streams of nodes, which feed subscriptions and gRPC streams.',
  {
    demand: option(
      oneOf(['union', 'full']),
      geyserSourceOptions.demand,
      '"union" requests what clients need, "full" everything, so that from_slot finds all.',
    ),
    filters_max: option(
      whole(1, 1_000_000),
      geyserSourceOptions.filtersMax,
      'Filters that servers accept per request.',
    ),
    addresses_max: option(
      whole(1, 1_000_000),
      geyserSourceOptions.addressesMax,
      'Addresses that servers accept per request.',
    ),
  },
  geyserLimits,
);

/** Fixed; `geyser` has the options of both consumers of Geyser streams. */
export const geyserSource = section('', {}, geyserSourceOptions);

const shredServerRows = {
  url: required(httpUrl, 'Address.', { secret: true, example: '"https://host:10000"' }),
  name: optional(nodeName, 'Name in logs. Default: kind and position.'),
  headers: headersRow,
};

const shredServers = (name: string, doc: string) => ({
  ...option(
    tableList(
      shredServerRows,
      SERVERS_MAX,
      'servers',
      `is not a list: write ${name} = [{ url = "https://host:port" }]`,
    ),
    [],
    doc,
  ),
  rows: shredServerRows,
});

export const shreds = section(
  'Sources of the shred stage.',
  {
    udp: option(switchOrAuto, 'auto', 'Receive shreds over UDP; "auto": from the embedded ledger only.'),
    udp_host: option(host, '127.0.0.1', 'Address of the UDP receiver.'),
    udp_port: option(whole(0, 65_535), 0, 'Port of the UDP receiver; 0 takes a free one.'),
    udp_senders: option(
      list(shredSender, 1_024, 'udp_senders = ["203.0.113.7"]'),
      [],
      'Addresses that packets are accepted from; empty: all.',
    ),
    shred_version: option(
      whole(0, 65_535),
      null,
      'Accepted shred version. Default: learned from the nodes.',
      {
        example: '50_093',
      },
    ),
    entries: shredServers('entries', 'Servers of ShredstreamProxy (SubscribeEntries).'),
    deshred: shredServers('deshred', 'Servers of Yellowstone SubscribeDeshred.'),
  },
  { ...shredLimits, ...deshredLimits },
);

export const offChain = section(
  'Off-chain JSON of tokens and NFTs.',
  {
    allow_networks: option(
      list(connectableNetwork, 256, 'allow_networks = ["10.0.0.0/8"]'),
      [...offChainRules.allowedNetworks],
      'Private networks that may be requested nevertheless.',
    ),
    ports: option(
      list(whole(1, 65_535), 64, 'ports = [80, 443]'),
      [...offChainRules.ports],
      'Ports that may be requested.',
    ),
    ipfs_gateways: option(
      list(gatewayUrl, 16, 'ipfs_gateways = ["https://host/ipfs/"]'),
      [...offChainRules.ipfsGateways],
      'Gateways for ipfs:// addresses, by priority.',
    ),
    arweave_gateways: option(
      list(gatewayUrl, 16, 'arweave_gateways = ["https://host/"]'),
      [...offChainRules.arweaveGateways],
      'Gateways for ar:// addresses.',
    ),
    document_ttl_ms: option(
      whole(0, 3_650 * DAY_MS),
      offChainLimits.documentTtlMs,
      'Time that a document is cached.',
    ),
    memory_max_bytes: option(whole(0, 64 * GIB), offChainLimits.memoryMaxBytes, 'Cache in memory.'),
    disk_max_bytes: option(
      whole(0, 1_024 * GIB),
      offChainLimits.diskMaxBytes,
      'Cache in data_dir/off-chain.',
    ),
  },
  offChainLimits,
);

/** Fixed. */
export const dasPool = section('', {}, dasLimits);

/** Longest epoch. */
export const SLOTS_PER_EPOCH_MAX = slotsPerEpochMax;

/** Highest start slot: about 3,000 empty blocks are created per second. */
export const WARP_SLOT_MAX = 1_000_000;

/** Defaults of the embedded ledger, standalone and inside the service. */
export const localnetDefaults = {
  ledgerDir: 'test-ledger',
  host: '127.0.0.1',
  rpcPort: 8899,
  geyserPort: 10_000,
  slotMs: 400,
  slotsPerEpoch: 432_000,
  ticksPerSlot: 64,
  faucetSol: 1_000_000,
  shredLeadMs: 20,
  historySlotsMax: defaultUpkeepLimits.historySlotsMax,
} as const;

export const localnet = section('Embedded ledger of development mode.', {
  rpc_port: option(whole(0, 65_534), 0, 'JSON-RPC port, followed by that of PubSub; 0 takes a free pair.'),
  slot_ms: option(whole(10, 60_000), localnetDefaults.slotMs, 'Slot time.'),
  slots_per_epoch: option(
    whole(32, SLOTS_PER_EPOCH_MAX),
    localnetDefaults.slotsPerEpoch,
    'Slots in an epoch.',
  ),
  faucet_sol: option(whole(1, 500_000_000), localnetDefaults.faucetSol, 'SOL of the faucet.'),
  history_slots_max: option(whole(200, 2 ** 48), localnetDefaults.historySlotsMax, 'Slots of history kept.'),
});
