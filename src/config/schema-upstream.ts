import { defaultUpkeepLimits } from '../../packages/localnet/src/bank/upkeep-limits.ts';
import { SLOTS_PER_EPOCH_MAX as slotsPerEpochMax } from '../../packages/localnet/src/genesis/epoch-length.ts';
import { dasLimits } from '../upstream/das/das-client.ts';
import { geyserLimits } from '../upstream/feeds/geyser/limits.ts';
import { feedLimits } from '../upstream/feeds/limits.ts';
import { geyserSourceOptions } from '../upstream/geyser/geyser-source-options.ts';
import { accountIndexes } from '../upstream/health/node-capabilities.ts';
import {
  balancingStrategies,
  PRIORITY_MAX,
  defaultUpstreamLimits as upstream,
  WEIGHT_MAX,
} from '../upstream/limits.ts';
import { defaultCacheTtls as ttls } from '../upstream/middleware/cache-policy.ts';
import { callKeyLimits } from '../upstream/middleware/call-key.ts';
import { coalescerLimits } from '../upstream/middleware/request-coalescer.ts';
import { memoryCacheLimits } from '../upstream/middleware/response-cache.ts';
import { SLOT_CACHE_FRESH_MS } from '../upstream/middleware/slot-cache.ts';
import { storeCacheLimits } from '../upstream/middleware/store-cache.ts';
import { offChainLimits, offChainRules } from '../upstream/off-chain/limits.ts';
import { deshredLimits, shredLimits } from '../upstream/shreds/shreds-config.ts';
import { submitLimits } from '../upstream/submit/limits.ts';
import { limit, option, optional, pick, required, section, tables } from './option.ts';
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
  methodPattern,
  network,
  nodeName,
  oneOf,
  onOff,
  ratio,
  redisUrl,
  shredSender,
  switchOrAuto,
  tableList,
  whole,
  wholeOrAuto,
  wsUrl,
} from './value-types.ts';

export const NODES_MAX = 256;
const SERVERS_MAX = 64;
const METHOD_PATTERNS_MAX = 100;

const networkRow = optional(network, 'Default: networks.default.', { example: '"mainnet-beta"' });
const headersRow = option(headers, {}, 'Headers sent with every request.', {
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
    'Maximum requests per second to the node, polls included; if unset, unlimited.',
    { example: '100' },
  ),
  requests_burst: option(
    whole(1, 10_000_000),
    null,
    'Maximum burst above requests_per_second. Default: one second of requests.',
    { example: '200' },
  ),
  priority: option(
    whole(1, PRIORITY_MAX),
    1,
    'Lower numbers are preferred; nodes with higher numbers are fallbacks.',
    { example: '2' },
  ),
  weight: option(whole(1, WEIGHT_MAX), 1, 'Share of calls within the priority.', {
    example: '3',
  }),
  methods: option(
    list(methodPattern, METHOD_PATTERNS_MAX, 'methods = ["getProgramAccounts", "getToken*"]'),
    null,
    'Methods to route to this node and to others with the same entry: names, prefixes or "*".',
    { example: '["getProgramAccounts", "getToken*"]' },
  ),
  archive: option(onOff, null, 'Whether the node has the full ledger history. Default: detected.', {
    example: 'true',
  }),
  indexes: option(
    list(oneOf(accountIndexes), accountIndexes.length, 'indexes = ["program-id"]'),
    null,
    'Account indexes, as in --account-index. Default: detected.',
    { example: '["program-id"]' },
  ),
  region: option(nodeName, null, 'Region; see server.region.', { example: '"fra"' }),
  pipelining: option(
    wholeOrAuto(1, 16),
    'auto',
    'Maximum cheap reads in flight per connection to a node that responds promptly; "auto": 8.',
    { example: '4' },
  ),
};

export const upstreams = tables('A node. Any number, for any of the networks.', upstreamRows, {
  max: NODES_MAX,
  item: 'node',
  reload: true,
});

export const upstreamPool = section(
  'Calls to nodes.',
  {
    timeout_ms: limit(whole(100, HOUR_MS), 'Timeout of a call, including all attempts.', { reload: true }),
    attempt_timeout_ms: limit(whole(50, HOUR_MS), 'Timeout of an attempt that can be retried.', {
      reload: true,
    }),
    load_balancing: limit(
      oneOf(balancingStrategies),
      '"spread" over nodes of similar latency, or "sticky".',
      { reload: true },
    ),
    lag_max_slots: limit(whole(1, 1_000_000), 'Maximum slots that a node may lag before it is ejected.', {
      reload: true,
    }),
    hedge_ratio: limit(
      ratio,
      'Maximum share of reads sent to a second node when the first is slow; 0 disables hedging.',
      { reload: true },
    ),
    confirm_null_results: limit(onOff, 'Ask a second node when the first does not have a transaction.', {
      reload: true,
    }),
    connections_max: limit(whole(1, 100_000), 'Maximum open connections per node.', { reload: true }),
    response_max_bytes: limit(whole(1_024, 2_047 * MIB), 'Maximum size of a node response.', {
      reload: true,
    }),
    response_buffer_max_bytes: limit(
      whole(MIB, 64 * GIB),
      'Maximum memory for incoming responses; above it, calls get OVERLOADED.',
      { reload: true },
    ),
  },
  upstream,
);

export const quorum = section(
  'Reads for which several nodes must agree.',
  {
    methods: option(
      list(methodPattern, METHOD_PATTERNS_MAX, 'methods = ["getMultipleAccounts"]'),
      [],
      'Methods: names, prefixes such as "getToken*", or "*" for all reads.',
      { example: '["getBlock", "getTransaction"]' },
    ),
    nodes: option(whole(2, 16), 3, 'Number of nodes queried in parallel.'),
    agreement_threshold: option(whole(2, 16), 2, 'Minimum number of matching responses.'),
  },
  {},
);

const serverRows = {
  url: required(httpUrl, 'Address.', { secret: true, example: '"https://host/path"' }),
  network: networkRow,
  name: optional(nodeName, 'Name in logs. Default: kind and position.', { example: '"endpoint-1"' }),
  headers: headersRow,
};

export const senders = tables('An endpoint that accepts only sendTransaction.', serverRows, {
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
    rebroadcast_interval_ms: limit(whole(50, HOUR_MS), 'Time between rebroadcasts of a transaction.', {
      reload: true,
    }),
    pending_max: limit(
      whole(0, 10_000_000),
      'Maximum transactions tracked until they land; above it, the most rebroadcast are dropped.',
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
    max_bytes: limit(whole(MIB, 64 * GIB), 'Maximum memory of the cache.'),
    disk_max_bytes: option(
      whole(0, 1_024 * GIB),
      GIB,
      'Maximum size of data_dir/finalized.cache, with finalized transactions of REST requests; 0: none.',
    ),
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
    ...memoryCacheLimits,
    ...callKeyLimits,
    ...coalescerLimits,
    redisWaitMs: storeCacheLimits.waitMs,
    redisBackoffMs: storeCacheLimits.backoffMs,
    redisAnswerMaxBytes: storeCacheLimits.answerMaxBytes,
    redisPendingMaxBytes: 32 * MIB,
  },
);

export const feeds = section(
  'PubSub connections to nodes.',
  {
    connection_subscriptions_max: limit(whole(2, 1_000_000), 'Maximum subscriptions per connection.'),
    node_connections_max: limit(whole(1, 10_000), 'Maximum connections per node.'),
    block_cache_max_bytes: limit(
      whole(MIB, 2_047 * MIB),
      'Maximum memory for blocks read to fill gaps and feed subscriptions.',
    ),
  },
  feedLimits,
);

export const geyser = section(
  'Geyser streams of nodes, which feed subscriptions and gRPC streams.',
  {
    demand: limit(
      oneOf(['union', 'full']),
      '"union" requests what clients need, "full" everything, so that from_slot finds all.',
    ),
    filters_max: limit(whole(1, 1_000_000), 'Maximum filters that servers accept per request.'),
    addresses_max: limit(whole(1, 1_000_000), 'Maximum addresses that servers accept per request.'),
  },
  { ...geyserLimits, ...pick(geyserSourceOptions, ['demand', 'filtersMax', 'addressesMax']) },
);

/** Not configurable: the options of all Geyser streams are in `geyser`. */
export const geyserSource = section('', {}, geyserSourceOptions);

const shredServerRows = {
  url: required(httpUrl, 'Address.', { secret: true, example: '"https://host:10000"' }),
  name: optional(nodeName, 'Name in logs. Default: kind and position.'),
  headers: headersRow,
};

function shredServers(name: string, doc: string) {
  const error = `is not a list: write ${name} = [{ url = "https://host:port" }]`;
  const servers = tableList(shredServerRows, SERVERS_MAX, 'servers', error);
  return option(servers, [], doc, { rows: shredServerRows });
}

export const shreds = section(
  'Sources of the shred stage.',
  {
    udp: option(switchOrAuto, 'auto', 'Receive shreds over UDP; "auto": from the embedded ledger only.'),
    udp_host: option(host, '127.0.0.1', 'Address of the UDP receiver.'),
    udp_port: option(whole(0, 65_535), 0, 'Port of the UDP receiver; 0 picks a free port.'),
    udp_senders: option(
      list(shredSender, 1_024, 'udp_senders = ["203.0.113.7"]'),
      [],
      'Source addresses of accepted packets; if empty, all.',
    ),
    shred_version: option(
      whole(0, 65_535),
      null,
      'Accepted shred version. Default: learned from the nodes.',
      { example: '50_093' },
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
      'Private networks to which requests are allowed.',
    ),
    ports: option(
      list(whole(1, 65_535), 64, 'ports = [80, 443]'),
      [...offChainRules.ports],
      'Ports to which requests are allowed.',
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
    document_ttl_ms: limit(whole(0, 3_650 * DAY_MS), 'How long a document is cached.'),
    memory_max_bytes: limit(whole(0, 64 * GIB), 'Maximum size of the cache in memory.'),
    disk_max_bytes: limit(whole(0, 1_024 * GIB), 'Maximum size of the cache in data_dir/off-chain.'),
  },
  offChainLimits,
);

export const dasPool = section('', {}, dasLimits);

export const SLOTS_PER_EPOCH_MAX = slotsPerEpochMax;

/** Highest start slot. Limits the startup time, because only about 3,000 empty blocks are created per second. */
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

export const localnet = section(
  'Embedded ledger of development mode.',
  {
    rpc_port: option(whole(0, 65_534), 0, 'JSON-RPC port; PubSub uses the next one. 0 picks two free ports.'),
    test_methods: option(
      onOff,
      false,
      'Whether keys may call the methods for tests, which change accounts and the clock of a local ledger.',
    ),
    slot_ms: limit(whole(10, 60_000), 'Slot duration.'),
    slots_per_epoch: limit(whole(32, SLOTS_PER_EPOCH_MAX), 'Slots per epoch.'),
    faucet_sol: limit(whole(1, 500_000_000), 'Initial SOL of the faucet.'),
    history_slots_max: limit(whole(200, 2 ** 48), 'Maximum slots of history retained.'),
  },
  pick(localnetDefaults, ['slotMs', 'slotsPerEpoch', 'faucetSol', 'historySlotsMax']),
);
