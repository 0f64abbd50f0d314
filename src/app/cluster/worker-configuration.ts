import { availableParallelism } from 'node:os';
import type { Configuration, UpstreamConfiguration } from '../../config/configuration.ts';
import { WORKERS_MAX } from '../../config/schema-server.ts';

export const workerCount = ({ server: { workers } }: Configuration): number =>
  workers === 'auto' ? Math.min(WORKERS_MAX, availableParallelism()) : workers;

type NumbersOf<Section> = {
  [Field in keyof Section]: Section[Field] extends number | null ? Field : never;
}[keyof Section];

type DividedFields = {
  readonly [Section in keyof Configuration]?: readonly NumbersOf<Configuration[Section]>[];
};

/**
 * Limits for the whole service that each worker enforces by itself, so each worker gets a share. They include limits
 * per client address. Limits per key or connection, and limits that processes share, are copied unchanged.
 */
// biome-ignore format: several short names per line
export const dividedFields = {
  server: [
    'bodiesMaxBytes', 'responsesMaxBytes', 'connectionsMax', 'connectionsPerAddressMax',
    'requestsInFlightMax',
  ],
  upstreamPool: ['connectionsMax', 'inFlightMax', 'responseBufferMaxBytes', 'longResponsesMax', 'recoveryProbesInFlightMax'],
  transactions: [
    'inFlightMax', 'callersMax', 'rebroadcastConcurrency', 'pendingMax', 'pendingMaxBytes',
    'callConcurrency', 'acceptedMax',
  ],
  cache: [
    'maxBytes', 'entriesMax', 'keysMax', 'keysMaxBytes', 'callsMax', 'waitingMax',
    'redisPendingMaxBytes',
  ],
  sessions: ['sessionsMax'],
  websocket: [
    'connectionsMax', 'allCallsInFlightMax', 'queuesMaxBytes',
    'addressesMax', 'topicsMax', 'topicsIdleMax',
  ],
  feeds: ['nodeConnectionsMax', 'failoversMax', 'gapFillsMax', 'blockCacheMaxBytes', 'blockReadsMax'],
  geyser: ['mintsMax', 'mintFetchesMax'],
  grpc: [
    'connectionsMax', 'connectionsPerAddressMax', 'streamsMax', 'keylessStreamsMax',
    'unaryInFlightMax', 'requestsMaxBytes', 'queuesMaxBytes',
  ],
  replay: ['maxBytes', 'replaysMax'],
  geyserSource: ['backfillsMax'],
  rest: ['callsInFlightMax', 'bodiesMaxBytes'],
  offChain: [
    'inFlightMax', 'perHostMax', 'unprovenPerHostMax',
    'queueMax', 'perHostQueueMax', 'unprovenPerHostQueueMax',
    'memoryMaxBytes', 'diskMaxBytes', 'diskFilesMax', 'diskQueueMax',
  ],
  dasPool: ['connectionsMax', 'inFlightMax'],
  confirmations: ['waitersMax', 'callConcurrency'],
  storage: ['uploadsMax', 'uploadsWaitingMax'],
  ipfs: ['openMax'],
  kubo: ['connectionsMax'],
  pinning: ['connectionsMax', 'watchedMax'],
  semiWallets: ['derivationsMax', 'derivationQueueMax', 'freeAttempts'],
  keys: ['usageRowsMax', 'usageJournalMaxBytes', 'failedAuthPerMinute'],
  accounts: ['accountFreeAttempts', 'addressFreeAttempts', 'hashesMax', 'hashesWaitingMax'],
  controlApi: ['requestsMax', 'streamsMax'],
  notices: ['inFlightMax'],
  mail: ['inFlightMax', 'customerPerHour', 'recipientPerHour'],
  requestLog: [
    'perSecond', 'unsampledMax', 'entriesMax', 'tailsMax', 'operatorTailsReserved', 'journalMaxBytes',
  ],
  telemetry: ['queueMax'],
} as const satisfies DividedFields;

/** A worker's share of a limit, at least 1. Returns 0 (none) and null (unlimited) unchanged. */
const shareOf = <Limit extends number | null>(limit: Limit, workers: number): Limit =>
  limit === null || limit === 0 ? limit : (Math.max(1, Math.floor(limit / workers)) as Limit);

const withNodeShare = (node: UpstreamConfiguration, upstreamClients: number): UpstreamConfiguration => ({
  ...node,
  requestsPerSecond: shareOf(node.requestsPerSecond, upstreamClients),
  requestsBurst: shareOf(node.requestsBurst, upstreamClients),
});

function divideSection<Section extends object>(
  section: Section,
  fields: readonly string[],
  workers: number,
): Section {
  const shares = fields.map((field) => [field, shareOf(section[field as keyof Section] as number, workers)]);
  return { ...section, ...Object.fromEntries(shares) };
}

/** With only one PostgreSQL connection, reads would wait for transactions. */
const STORE_CONNECTIONS_MIN = 2;

/** @param upstreamClients - number of processes that share the rate limits of nodes. */
export function toWorkerConfiguration(
  configuration: Configuration,
  workers: number,
  upstreamClients: number = workers,
): Configuration {
  const sections = Object.entries(dividedFields).map(([name, fields]) => [
    name,
    divideSection(configuration[name as keyof typeof dividedFields], fields, workers),
  ]);
  const { store, shared, upstreams } = configuration;
  const connectionsMax = Math.max(STORE_CONNECTIONS_MIN, shareOf(store.connectionsMax, workers));
  return {
    ...configuration,
    ...(Object.fromEntries(sections) as Pick<Configuration, keyof typeof dividedFields>),
    store: { ...store, connectionsMax },
    // Each worker counts as a gateway.
    shared: { ...shared, gatewaysMin: shared.gatewaysMin * workers },
    upstreams: upstreams.map((node) => withNodeShare(node, upstreamClients)),
  };
}
