import { hostname } from 'node:os';
import type { Logger } from '../base/log.ts';
import type { LogFacts } from '../control/api/services.ts';
import { GatewayPresence } from '../control/requests/gateway-presence.ts';
import type { NodeCordon } from '../control/requests/node-cordons.ts';
import { type RequestSources, RequestWriter } from '../control/requests/request-writer.ts';
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
import type { NodeStatus, UpstreamPool } from '../upstream/pool.ts';
import type { Access } from './access.ts';
import type { Configuration } from './configuration.ts';
import { watchLosses } from './loss-watch.ts';
import { Metrics } from './metrics.ts';
import { OtlpExporter } from './otlp-exporter.ts';
import { PROGRAM_VERSION } from './program-version.ts';
import { stopEach } from './stop-each.ts';
import { tellState } from './tell-state.ts';

/** What the service tells of its requests, its connections, its nodes and itself. */
export type Observing = Readonly<{
  /** For the gates: they tell of every request and every long connection. */
  watch: RequestWatch;
  submissions: SubmissionLog;
  connections: LiveConnections;
  /** For the control API. */
  log: LogFacts;
  /** The page of metrics; no path where it is not switched on. @param requestsInFlight - of the HTTP door. */
  routes(requestsInFlight: () => number): HttpRoutes;
  /** Begins to write and to tell. */
  start(): Promise<void>;
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
const shownNode = ({ slot, lagSlots, ...node }: NodeStatus): object => ({
  ...node,
  slot: slot === null ? null : String(slot),
  lagSlots: lagSlots === null ? null : String(lagSlots),
});

/** Puts exactly these nodes out of service. */
function setCordons(pool: UpstreamPool, cordons: readonly NodeCordon[]): void {
  for (const { network, name, cordoned } of pool.status()) {
    const cordon = cordons.find((one) => one.network === network && one.node === name);
    if (cordon !== undefined) pool.cordon(network, name, cordon.reason);
    else if (cordoned) pool.uncordon(network, name);
  }
}

function openPresence(
  { gateways }: Configuration,
  { store }: Access,
  pool: UpstreamPool,
  connections: LiveConnections,
  log: Logger,
): GatewayPresence {
  const { heartbeatMs, lookIntervalMs, goneAfterMs, connectionsShownMax } = gateways;
  const works = {
    nodes: () => pool.status().map(shownNode),
    connections: (max: number) => connections.look(max),
    laggedMinutes: () => connections.laggedMinutes(),
    setCordons: (cordons: readonly NodeCordon[]) => setCordons(pool, cordons),
    closeConnection: (id: string) => void connections.close(id, new Failure('CLOSED_BY_OWNER')),
  };
  const onState = tellState(
    log,
    'this gateway cannot tell of itself, nor hear of cordons and of connections to close',
    'this gateway tells of itself again',
  );
  const options = { heartbeatMs, lookIntervalMs, goneAfterMs, connectionsMax: connectionsShownMax, onState };
  return new GatewayPresence(store, works, { host: hostname(), version: PROGRAM_VERSION }, options);
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
  return new RequestWriter(store, sources, gateway, { ...requestLog, onState });
}

function openTails({ requestLog }: Configuration, log: Logger): LogTails {
  const failing = 'the log of requests cannot be read for those who follow it';
  const onState = tellState(log, failing, 'the log of requests is read again for those who follow it');
  return new LogTails(requestLog, onState);
}

/** Builds what the service tells of itself; nothing is told before `start`. */
export function openObserving(
  configuration: Configuration,
  access: Access,
  pool: UpstreamPool,
  log: Logger,
): Observing {
  const { requestLog, metrics, telemetry } = configuration;
  const connections = new LiveConnections();
  const presence = openPresence(configuration, access, pool, connections, log);
  const exporter = openExporter(configuration, presence.id, log);
  const sampler = new TraceSampler(telemetry.share);
  const requests = new RequestLog(requestLog, exporter === null ? null : { sampler, sink: exporter });
  const counters = new DoorCounters({ keysMax: metrics.keysMax });
  const submissions = new SubmissionLog({ entriesMax: requestLog.entriesMax });
  const writer = openWriter(access, { requests, submissions }, presence.id, configuration, log);
  const { share, perSecond, keptHours } = requestLog;
  const dropped = {
    log_entries: () => requests.dropped + writer.dropped,
    refused_entries: () => writer.refused,
    submissions: () => submissions.dropped,
    spans: () => exporter?.dropped ?? 0,
    usage_calls: () => access.usage.uncounted,
  };
  const waiting = { log_entries: () => requests.waiting, spans: () => exporter?.waiting ?? 0 };
  const pages: Metrics[] = [];
  const losses = [
    {
      message: 'requests were left out of the log: raise request_log.entries_max',
      read: dropped.log_entries,
    },
    {
      message: 'requests were left out of the log: the database refused what stands in them',
      read: dropped.refused_entries,
    },
    {
      message: 'spans were dropped: raise telemetry.queue_max, or look after the collector',
      read: dropped.spans,
    },
  ];
  let endLosses = (): void => {};
  return {
    watch: new RequestWatch(requests, counters),
    submissions,
    connections,
    log: { share, perSecond, keptHours, tails: openTails(configuration, log) },
    routes(requestsInFlight) {
      if (!metrics.open && metrics.token === null) return new Map();
      const nodes = () => pool.status();
      const isStoreUp = () => access.keys.storeReachable;
      const page = new Metrics({
        ...{ counters, connections, nodes, isStoreUp, requestsInFlight, waiting, dropped },
      });
      pages.push(page);
      return metricsRoutes({ token: metrics.token }, () => page.render());
    },
    async start() {
      writer.start();
      exporter?.start();
      endLosses = watchLosses(losses, log);
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
