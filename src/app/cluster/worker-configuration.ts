import { availableParallelism } from 'node:os';
import type { Configuration, UpstreamConfiguration } from '../../config/configuration.ts';
import { WORKERS_MAX } from '../../config/schema-server.ts';

export const workerCount = ({ server: { workers } }: Configuration): number =>
  workers === 'auto' ? Math.min(WORKERS_MAX, availableParallelism()) : workers;

type NumbersOf<Section> = {
  [Field in keyof Section]: Section[Field] extends number | null ? Field : never;
}[keyof Section];

type Divided = {
  readonly [Section in keyof Configuration]?: readonly NumbersOf<Configuration[Section]>[];
};

/**
 * Limits of the whole service that are not shared at run time: each worker gets a part. Limits per key, client or
 * connection, and shared ones, are the same in all workers.
 */
export const dividedFields = {
  server: [
    ...(['bodiesMaxBytes', 'responsesMaxBytes', 'connectionsMax', 'connectionsPerAddressMax'] as const),
    'requestsInFlightMax',
  ],
  upstreamPool: ['connectionsMax', 'inFlightMax', 'responseBufferMaxBytes', 'longAnswersMax', 'copiesMax'],
  transactions: [
    ...(['inFlightMax', 'callersMax', 'rebroadcastConcurrency', 'pendingMax', 'pendingMaxBytes'] as const),
    ...(['callsAtATime', 'acceptedMax'] as const),
  ],
  cache: [
    ...(['maxBytes', 'entriesMax', 'keysMax', 'keysMaxBytes', 'callsMax', 'waitingMax'] as const),
    'redisPendingMaxBytes',
  ],
  sessions: ['sessionsMax'],
  websocket: [
    ...(['connectionsMax', 'allCallsInFlightMax', 'queuesMaxBytes'] as const),
    ...(['addressesMax', 'topicsMax', 'topicsIdleMax'] as const),
  ],
  feeds: ['nodeConnectionsMax', 'failoversMax', 'gapFillsMax', 'blockCacheMaxBytes', 'blockReadsMax'],
  geyser: ['mintsMax', 'mintFetchesMax'],
  grpc: [
    ...(['connectionsMax', 'connectionsPerAddressMax', 'streamsMax', 'keylessStreamsMax'] as const),
    ...(['unaryInFlightMax', 'requestsMaxBytes', 'queuesMaxBytes'] as const),
  ],
  replay: ['maxBytes', 'replaysMax'],
  geyserSource: ['backfillsMax'],
  rest: ['callsInFlightMax', 'bodiesMaxBytes'],
  offChain: [
    ...(['inFlightMax', 'perHostMax', 'unprovenPerHostMax'] as const),
    ...(['queueMax', 'perHostQueueMax', 'unprovenPerHostQueueMax'] as const),
    ...(['memoryMaxBytes', 'diskMaxBytes', 'diskFilesMax', 'diskQueueMax'] as const),
  ],
  dasPool: ['connectionsMax', 'inFlightMax'],
  confirmations: ['waitersMax', 'callsAtATime'],
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
  requestLog: ['perSecond', 'lateMax', 'entriesMax', 'tailsMax', 'operatorTailsKept'],
  telemetry: ['queueMax'],
} as const satisfies Divided;

/** A worker's share of a limit, at least 1. 0 and null mean none or unlimited and are kept. */
const partOf = <Limit extends number | null>(limit: Limit, workers: number): Limit =>
  limit === null || limit === 0 ? limit : (Math.max(1, Math.floor(limit / workers)) as Limit);

const nodeShareOf = (node: UpstreamConfiguration, upstreamClients: number): UpstreamConfiguration => ({
  ...node,
  requestsPerSecond: partOf(node.requestsPerSecond, upstreamClients),
  requestsBurst: partOf(node.requestsBurst, upstreamClients),
});

function sectionOfWorker<Section extends object>(
  section: Section,
  fields: readonly string[],
  workers: number,
): Section {
  const parts = fields.map((field) => [field, partOf(section[field as keyof Section] as number, workers)]);
  return { ...section, ...Object.fromEntries(parts) };
}

/** With fewer PostgreSQL connections, reads would wait for transactions. */
const STORE_CONNECTIONS_MIN = 2;

/** @param upstreamClients - processes that share the rate limits of nodes. */
export function toWorkerConfiguration(
  configuration: Configuration,
  workers: number,
  upstreamClients: number = workers,
): Configuration {
  const sections = Object.entries(dividedFields).map(([name, fields]) => [
    name,
    sectionOfWorker(configuration[name as keyof typeof dividedFields], fields, workers),
  ]);
  const { store, shared, upstreams } = configuration;
  const connectionsMax = Math.max(STORE_CONNECTIONS_MIN, partOf(store.connectionsMax, workers));
  return {
    ...configuration,
    ...(Object.fromEntries(sections) as Pick<Configuration, keyof typeof dividedFields>),
    store: { ...store, connectionsMax },
    // Each worker counts as a gateway.
    shared: { ...shared, gatewaysMin: shared.gatewaysMin * workers },
    upstreams: upstreams.map((node) => nodeShareOf(node, upstreamClients)),
  };
}
