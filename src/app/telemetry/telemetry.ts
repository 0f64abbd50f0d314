import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../base/log.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { Configuration } from '../../config/configuration.ts';
import {
  ClickHouseLog,
  type clickHouseLogOptions,
} from '../../control/requests/clickhouse/clickhouse-log.ts';
import { GatewayHeartbeat, type NodeCordon } from '../../control/requests/gateway-heartbeat.ts';
import type { LogStore } from '../../control/requests/log-store.ts';
import { LogTails } from '../../control/requests/log-tails.ts';
import {
  type RequestSources,
  RequestWriter,
  type RequestWriterOptions,
} from '../../control/requests/request-writer.ts';
import { SqlLog } from '../../control/requests/sql-log.ts';
import { LiveConnections } from '../../gateway/telemetry/live-connections.ts';
import { OtlpExporter } from '../../gateway/telemetry/otlp-exporter.ts';
import { RequestCounters } from '../../gateway/telemetry/request-counters.ts';
import { RequestLog, TraceSampler } from '../../gateway/telemetry/request-log.ts';
import { SubmissionLog } from '../../gateway/telemetry/submission-log.ts';
import { UnknownMethods } from '../../gateway/telemetry/unknown-methods.ts';
import { Failure } from '../../protocol/errors.ts';
import type { HttpRoutes } from '../../servers/http/routes.ts';
import { metricsRoutes } from '../../servers/operator-routes.ts';
import type { NodeStatus } from '../../upstream/node-status.ts';
import type { TransactionSubmitter } from '../../upstream/submit/transaction-submitter.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';
import type { Access } from '../access.ts';
import { logStateChange } from '../log-state-change.ts';
import { stopEach } from '../process/stop-each.ts';
import { PROGRAM_VERSION } from '../program-version.ts';
import type { ActiveNodes, NodeTraits } from '../upstreams/active-nodes.ts';
import type { UpstreamMiddleware } from '../upstreams/upstream-middleware.ts';
import { watchLosses } from './loss-watch.ts';
import { openMetrics, type ServerFacts } from './metrics.ts';
import { type Health, type HealthSources, openHealth } from './open-health.ts';

function openExporter({ telemetry }: Configuration, gateway: string, log: Logger): OtlpExporter | null {
  const { otlpUrl: url, headers, sampleRatio: _, ...options } = telemetry;
  if (url === null) return null;
  const resource = {
    'service.name': 'solway',
    'service.version': PROGRAM_VERSION,
    'service.instance.id': gateway,
  };
  return new OtlpExporter({ url, headers, resource, log }, options);
}

const toNodeView = ({ counts: _, ...node }: NodeStatus, traits: NodeTraits): object => ({
  // JSON cannot represent a bigint.
  ...Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  ),
  ...traits,
});

/** The part of `WorkerContext` that telemetry needs. */
type WorkerTelemetry = Readonly<{
  worker: number;
  joinMetrics(own: () => string): () => Promise<string>;
}>;

type MeasuredUpstreams = Readonly<{
  pool: Pick<UpstreamPool, 'status' | 'slotAt'>;
  yellowstone: HealthSources['yellowstone'];
  activeNodes: Pick<ActiveNodes, 'traitsOf' | 'setCordons'>;
  sending: Pick<TransactionSubmitter, 'pending' | 'shed'>;
  middleware: Pick<UpstreamMiddleware, 'outcomes' | 'usage' | 'evictions'>;
}>;

/** Host name shown in the dashboard; a worker adds its number. */
const hostOf = (workerTelemetry: WorkerTelemetry | null): string =>
  workerTelemetry === null ? hostname() : `${hostname()}#${workerTelemetry.worker}`;

// Passes the live section of the configuration, so that a reload takes effect.
const openHealthOf = (
  { health, dataDir, networks }: Configuration,
  { keys, lostUsage, clickHouse, hasRejectedRows }: Access,
  {
    logStore,
    ...sources
  }: Pick<HealthSources, 'pool' | 'yellowstone' | 'counters' | 'lostLogEntries'> &
    Readonly<{ logStore: LogStore }>,
): Health =>
  openHealth(health, {
    ...{ ...sources, dataDir, lostUsage, hasRejectedRows, network: networks.default },
    isStoreUp: () => keys.storeReachable,
    isClickHouseUp: () => (clickHouse?.isUp() ?? true) && logStore.isFailing !== true,
  });

type HeartbeatParts = Readonly<{
  connections: LiveConnections;
  health: Health;
  workerTelemetry: WorkerTelemetry | null;
}>;

function createHeartbeat(
  { gateways }: Configuration,
  { store, setGateway }: Access,
  { pool, activeNodes }: MeasuredUpstreams,
  { connections, health, workerTelemetry }: HeartbeatParts,
  log: Logger,
): GatewayHeartbeat {
  const callbacks = {
    nodes: () => pool.status().map((node) => toNodeView(node, activeNodes.traitsOf(node.network, node.name))),
    problems: () => health.problems(),
    connections: (max: number) => connections.snapshot(max),
    laggedMinutes: () => connections.laggedMinutes(),
    setCordons: (cordons: readonly NodeCordon[]) => activeNodes.setCordons(cordons),
    closeConnection: (id: string) => void connections.close(id, new Failure('CLOSED_BY_OWNER')),
  };
  const onState = logStateChange(
    log,
    'Gateway heartbeat failed; cordons and connection closes are not received',
    'Gateway heartbeat resumed',
  );
  const gateway = { host: hostOf(workerTelemetry), version: PROGRAM_VERSION };
  const heartbeat = new GatewayHeartbeat(store, callbacks, gateway, { ...gateways, onState });
  setGateway(heartbeat.id);
  return heartbeat;
}

function openWriter(
  { store }: Access,
  logStore: LogStore,
  sources: RequestSources,
  gateway: string,
  { requestLog }: Configuration,
  log: Logger,
): RequestWriter {
  const failing = 'Failed to write the request log; entries are queued';
  const onState = logStateChange(log, failing, 'Writing the request log recovered');
  const options = withDefaults<Partial<RequestWriterOptions>>({ onState }, requestLog);
  return new RequestWriter(store, logStore, sources, gateway, options);
}

function openLogStore({ store, requestLog, dataDir }: Configuration, access: Access, log: Logger): LogStore {
  if (store.clickhouseUrl === null) return new SqlLog(access.store);
  const failing = 'Failed to write the request log to ClickHouse; entries wait on disk';
  const onState = logStateChange(log, failing, 'Writing the request log to ClickHouse recovered');
  const onDeletionState = logStateChange(
    log,
    'Failed to delete the request log of deleted customers from ClickHouse; retrying every minute',
    'Deleting the request log of deleted customers from ClickHouse recovered',
  );
  const onRecovered = (rows: number) => log.info({ rows }, 'Request log entries of an earlier run recovered');
  const callbacks = { onState, onDeletionState, onRecovered };
  const options = withDefaults<Partial<typeof clickHouseLogOptions>>(callbacks, requestLog);
  return new ClickHouseLog(store.clickhouseUrl, join(dataDir, 'log-journal'), options);
}

function openTails({ requestLog }: Configuration, log: Logger): LogTails {
  const failing = 'Live tail of the request log failed';
  const onState = logStateChange(log, failing, 'Live tail of the request log resumed');
  return new LogTails(requestLog, onState);
}

/** Log messages for counters of dropped entries, by counter name. */
const lossMessages = {
  log_entries: 'Requests dropped from the request log: the database is too slow',
  refused_entries: 'Requests dropped from the request log: the database rejected them',
  transactions: 'Transactions dropped before they landed: raise transactions.pending_max',
  spans: 'Spans dropped: check the OTLP collector',
} as const;

type Dropped = Readonly<Record<keyof typeof lossMessages, () => number>>;

const lossesOf = (dropped: Dropped) =>
  Object.entries(lossMessages).map(([name, message]) => ({ message, read: dropped[name as keyof Dropped] }));

/** Writes and exports nothing until `start`. @param workerTelemetry - null if this process is the whole service. */
export function openTelemetry(
  configuration: Configuration,
  access: Access,
  upstreams: MeasuredUpstreams,
  workerTelemetry: WorkerTelemetry | null,
  log: Logger,
) {
  const { requestLog, metrics, telemetry } = configuration;
  const connections = new LiveConnections();
  const { pool, sending, middleware } = upstreams;
  const counters = new RequestCounters({ keysMax: metrics.keysMax });
  const lostLogEntries = () => dropped.log_entries() + dropped.refused_entries() + dropped.submissions();
  const logStore = openLogStore(configuration, access, log);
  const health = openHealthOf(configuration, access, { ...upstreams, counters, lostLogEntries, logStore });
  const parts = { connections, health, workerTelemetry };
  const heartbeat = createHeartbeat(configuration, access, upstreams, parts, log);
  const exporter = openExporter(configuration, heartbeat.id, log);
  const sampler = new TraceSampler(telemetry.sampleRatio);
  const requests = new RequestLog(requestLog, exporter === null ? null : { sampler, sink: exporter });
  const submissions = new SubmissionLog({ entriesMax: requestLog.entriesMax });
  const sources = { requests, submissions, unknownMethods: new UnknownMethods() };
  const writer = openWriter(access, logStore, sources, heartbeat.id, configuration, log);
  const dropped = {
    log_entries: () => requests.dropped + writer.losses.dropped,
    refused_entries: () => writer.losses.rejected,
    submissions: () => submissions.dropped,
    transactions: () => sending.shed,
    spans: () => exporter?.dropped ?? 0,
    usage_calls: () => access.usage.uncounted,
    kept_answers: middleware.evictions,
  };
  const waiting = {
    log_entries: () => requests.waiting + (logStore.waiting ?? 0),
    spans: () => exporter?.waiting ?? 0,
    transactions: () => sending.pending,
    usage_rows: access.pendingUsageRows,
  };
  const pages: ReturnType<typeof openMetrics>[] = [];
  let stopLossWatch = (): void => {};
  return {
    requestLog: requests,
    counters,
    submissions,
    unknownMethods: sources.unknownMethods,
    connections,
    // Passes the live section of the configuration, so that a reload takes effect.
    log: { settings: requestLog, tails: openTails(configuration, log), store: logStore },
    /** Metrics route; empty if metrics are disabled. */
    routes(servers: ServerFacts): HttpRoutes {
      if (!metrics.open && metrics.token === null) return new Map();
      const page = openMetrics({
        ...{ counters, connections, nodes: () => pool.status(), waiting, dropped },
        isStoreUp: () => access.keys.storeReachable,
        ...{ cacheOutcomes: middleware.outcomes, cacheUsage: middleware.usage },
        ...servers,
      });
      pages.push(page);
      const render = workerTelemetry?.joinMetrics(page.render) ?? page.render;
      return metricsRoutes({ token: metrics.token }, render);
    },
    ...{ gatewayId: heartbeat.id, problems: health.problems },
    setUrl: (url: string) => heartbeat.setUrl(url),
    async start() {
      writer.start();
      exporter?.start();
      stopLossWatch = watchLosses(lossesOf(dropped), log);
      await health.start();
      await heartbeat.start();
    },
    /** Writes queued entries and stops. Must be called before the store closes. */
    stop: () => {
      const parts = [heartbeat, health, writer, exporter].map((part) => async () => part?.stop());
      const closed = pages.map((page) => async () => page.close());
      return stopEach([...closed, ...parts, async () => stopLossWatch()]);
    },
  };
}

export type Telemetry = ReturnType<typeof openTelemetry>;
