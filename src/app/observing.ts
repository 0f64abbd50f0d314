import { hostname } from 'node:os';
import type { Logger } from '../base/log.ts';
import { withDefaults } from '../base/with-defaults.ts';
import type { LogFacts } from '../control/api/services.ts';
import { GatewayPresence } from '../control/requests/gateway-presence.ts';
import type { NodeCordon } from '../control/requests/node-cordons.ts';
import {
  type RequestSources,
  RequestWriter,
  type RequestWriterOptions,
} from '../control/requests/request-writer.ts';
import { LogTails } from '../control/requests/tail-log.ts';
import { DoorCounters } from '../observe/door-counters.ts';
import { LiveConnections } from '../observe/live-connections.ts';
import { RequestLog } from '../observe/request-log.ts';
import { RequestWatch } from '../observe/request-watch.ts';
import { SubmissionLog } from '../observe/submission-log.ts';
import { TraceSampler } from '../observe/trace-context.ts';
import { Failure } from '../protocol/errors.ts';
import type { HttpRoutes } from '../servers/http-route.ts';
import { metricsRoutes } from '../servers/metrics.ts';
import type { NodeStatus } from '../upstream/node-status.ts';
import type { Access } from './access.ts';
import type { Configuration } from './configuration.ts';
import { watchLosses } from './loss-watch.ts';
import { type DoorFacts, Metrics } from './metrics.ts';
import type { NodeTraits } from './nodes-in-force.ts';
import { OtlpExporter } from './otlp-exporter.ts';
import { PROGRAM_VERSION } from './program-version.ts';
import { stopEach } from './stop-each.ts';
import { tellState } from './tell-state.ts';
import type { Upstreams } from './upstreams.ts';

/** What the service tells of its requests, its connections, its nodes and itself. */
export type Observing = Readonly<{
  /** For the gates: they tell of every request and every long connection. */
  watch: RequestWatch;
  submissions: SubmissionLog;
  connections: LiveConnections;
  /** For the control API. */
  log: LogFacts;
  /** The page of metrics; no path where it is not switched on. */
  routes(doors: DoorFacts): HttpRoutes;
  /** Begins to write and to tell. */
  start(): Promise<void>;
  /** The doors are open: the service answers there. */
  reachedAt(url: string): void;
  /** Writes what is there; before the store is closed. */
  stop(): Promise<void>;
}>;

function openExporter({ telemetry }: Configuration, gateway: string, log: Logger): OtlpExporter | null {
  const { otlpUrl: url, headers, share: _, ...options } = telemetry;
  if (url === null) return null;
  const resource = {
    'service.name': 'solway',
    'service.version': PROGRAM_VERSION,
    'service.instance.id': gateway,
  };
  return new OtlpExporter({ url, headers, resource, log }, options);
}

/** A node as operators are shown it. */
const shownNode = (node: NodeStatus, traits: NodeTraits): object => ({
  // JSON has no number for a slot.
  ...Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  ),
  ...traits,
});

/** What differs where a process is one of several workers of one service. */
export type WorkerObserving = Readonly<{
  worker: number;
  /** Says how this worker's own page of metrics is had. @returns how that of all workers is. */
  joinMetrics(own: () => string): () => Promise<string>;
}>;

/** How operators are told this process from others. */
const hostOf = (seat: WorkerObserving | null): string =>
  seat === null ? hostname() : `${hostname()}#${seat.worker}`;

function openPresence(
  { gateways }: Configuration,
  { store }: Access,
  { pool, inForce }: Pick<Upstreams, 'pool' | 'inForce'>,
  connections: LiveConnections,
  seat: WorkerObserving | null,
  log: Logger,
): GatewayPresence {
  const { heartbeatMs, lookIntervalMs, goneAfterMs, connectionsShownMax } = gateways;
  const works = {
    nodes: () => pool.status().map((node) => shownNode(node, inForce.traitsOf(node.network, node.name))),
    connections: (max: number) => connections.look(max),
    laggedMinutes: () => connections.laggedMinutes(),
    setCordons: (cordons: readonly NodeCordon[]) => inForce.setCordons(cordons),
    closeConnection: (id: string) => void connections.close(id, new Failure('CLOSED_BY_OWNER')),
  };
  const onState = tellState(
    log,
    'this gateway cannot tell of itself, nor hear of cordons and of connections to close',
    'this gateway tells of itself again',
  );
  const options = { heartbeatMs, lookIntervalMs, goneAfterMs, connectionsMax: connectionsShownMax, onState };
  return new GatewayPresence(store, works, { host: hostOf(seat), version: PROGRAM_VERSION }, options);
}

function openWriter(
  { store }: Access,
  sources: RequestSources,
  gateway: string,
  { requestLog }: Configuration,
  log: Logger,
): RequestWriter {
  const onState = tellState(
    log,
    'the log of requests cannot be written, or not be pruned; it is kept until it can',
    'the log of requests is written again',
  );
  return new RequestWriter(
    store,
    sources,
    gateway,
    withDefaults<Partial<RequestWriterOptions>>({ onState }, requestLog),
  );
}

function openTails({ requestLog }: Configuration, log: Logger): LogTails {
  const failing = 'the log of requests cannot be read for those who follow it';
  const onState = tellState(log, failing, 'the log of requests is read again for those who follow it');
  return new LogTails(requestLog, onState);
}

/** What is said of the request log, as it is kept now. */
const logFacts = (requestLog: Configuration['requestLog'], tails: LogTails): LogFacts => ({
  get share() {
    return requestLog.share;
  },
  get perSecond() {
    return requestLog.perSecond;
  },
  get keptHours() {
    return requestLog.keptHours;
  },
  tails,
});

/** What of what is given up is said in the log, and what helps. */
const lossesOf = (
  dropped: Readonly<Record<'log_entries' | 'refused_entries' | 'transactions' | 'spans', () => number>>,
) => [
  {
    message: 'requests were left out of the log: raise request_log.entries_max',
    read: dropped.log_entries,
  },
  {
    message: 'requests were left out of the log: the database refused what stands in them',
    read: dropped.refused_entries,
  },
  {
    message: 'transactions were given up before they had landed: raise sending.pending_max',
    read: dropped.transactions,
  },
  {
    message: 'spans were dropped: raise telemetry.queue_max, or look after the collector',
    read: dropped.spans,
  },
];

/**
 * Builds what the service tells of itself; nothing is told before `start`.
 * @param seat - null: this process is all of the service.
 */
export function openObserving(
  configuration: Configuration,
  access: Access,
  upstreams: Pick<Upstreams, 'pool' | 'inForce' | 'sending' | 'answers'>,
  seat: WorkerObserving | null,
  log: Logger,
): Observing {
  const { requestLog, metrics, telemetry } = configuration;
  const connections = new LiveConnections();
  const { pool, sending, answers } = upstreams;
  const presence = openPresence(configuration, access, upstreams, connections, seat, log);
  const exporter = openExporter(configuration, presence.id, log);
  const sampler = new TraceSampler(telemetry.share);
  const requests = new RequestLog(requestLog, exporter === null ? null : { sampler, sink: exporter });
  const counters = new DoorCounters({ keysMax: metrics.keysMax });
  const submissions = new SubmissionLog({ entriesMax: requestLog.entriesMax });
  const writer = openWriter(access, { requests, submissions }, presence.id, configuration, log);
  const dropped = {
    log_entries: () => requests.dropped + writer.dropped,
    refused_entries: () => writer.refused,
    submissions: () => submissions.dropped,
    transactions: () => sending.shed,
    spans: () => exporter?.dropped ?? 0,
    usage_calls: () => access.usage.uncounted,
    kept_answers: answers.evictions,
  };
  const waiting = {
    log_entries: () => requests.waiting,
    spans: () => exporter?.waiting ?? 0,
    transactions: () => sending.pending,
    usage_rows: access.usageWaiting,
  };
  const pages: Metrics[] = [];
  let endLosses = (): void => {};
  return {
    watch: new RequestWatch(requests, counters),
    submissions,
    connections,
    log: logFacts(requestLog, openTails(configuration, log)),
    routes(doors) {
      if (!metrics.open && metrics.token === null) return new Map();
      const nodes = () => pool.status();
      const isStoreUp = () => access.keys.storeReachable;
      const page = new Metrics({
        ...{ counters, connections, nodes, isStoreUp, waiting, dropped },
        ...{ answered: answers.answered, cached: answers.held },
        ...doors,
      });
      pages.push(page);
      const own = () => page.render();
      return metricsRoutes({ token: metrics.token }, seat?.joinMetrics(own) ?? own);
    },
    reachedAt: (url) => presence.reachedAt(url),
    async start() {
      writer.start();
      exporter?.start();
      endLosses = watchLosses(lossesOf(dropped), log);
      await presence.start();
    },
    stop: () =>
      stopEach([
        async () => {
          for (const page of pages) page.close();
        },
        () => presence.stop(),
        () => writer.stop(),
        async () => exporter?.stop(),
        async () => endLosses(),
      ]),
  };
}
