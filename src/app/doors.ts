import type { MessagePaceOptions } from '../access/message-pace.ts';
import type { Logger } from '../base/log.ts';
import type { HoldingLimits } from '../gateway/held.ts';
import { createPipeline, type PipelineParts } from '../gateway/pipeline.ts';
import { StreamGate } from '../gateway/session.ts';
import { SlotSessions } from '../gateway/slot-sessions.ts';
import type { TopicHubOptions } from '../gateway/topics.ts';
import type { Network } from '../protocol/call.ts';
import { envelopeLimits } from '../protocol/envelope.ts';
import { TrustedProxies } from '../servers/client-address.ts';
import { healthRoutes, type ReadinessFacts } from '../servers/health.ts';
import { HttpServer } from '../servers/http.ts';
import type { HttpTls } from '../servers/http-options.ts';
import { joinRoutes } from '../servers/http-route.ts';
import { IPFS_PREFIX } from '../servers/ipfs/server.ts';
import { RawDoor } from '../servers/raw/raw-door.ts';
import { errorBody } from '../servers/rest/errors.ts';
import { REST_PREFIX } from '../servers/rest/server.ts';
import { RpcCalls } from '../servers/rpc/calls.ts';
import { rpcRoutes } from '../servers/rpc/server.ts';
import { WebSocketDialect, type WebSocketOptions, webSocketOptions } from '../servers/websocket/server.ts';
import type { Access } from './access.ts';
import { buildEntrance } from './admission.ts';
import type { Configuration } from './configuration.ts';
import { CONTROL_PREFIX, type Control, controlRefusal } from './control.ts';
import { dashboardDoor } from './dashboard.ts';
import { buildGrpcDoor, type GrpcDoor } from './grpc-door.ts';
import type { Limits } from './limits.ts';
import type { Observing } from './observing.ts';
import { restDoor } from './rest.ts';
import type { RestServices } from './rest-services.ts';
import type { Streams } from './streams.ts';
import { httpTlsFiles, readTls } from './tls-files.ts';
import type { SecureDoor } from './tls-reload.ts';
import type { Upstreams } from './upstreams.ts';

/** One listener with the door for calls, the door for WebSockets, and what load balancers ask; another for gRPC. */
export type Doors = Readonly<{
  http: HttpServer;
  /** null where it is not enabled. */
  grpc: GrpcDoor | null;
  /** Those that speak TLS. */
  secure: readonly SecureDoor[];
  /** Answers REST requests that wait for what may take longer than the drain. */
  endWaits(): void;
  /** Ends every subscription; once the listeners are drained. */
  close(): void;
}>;

function rpcCalls(
  { server, networks, upstreamPool }: Configuration,
  parts: PipelineParts,
  { pool }: Upstreams,
  proxies: TrustedProxies,
): RpcCalls {
  return new RpcCalls(createPipeline(parts), {
    network: networks.default,
    served: () => pool.networks(),
    bodyMaxBytes: server.bodyMaxBytes,
    bodiesMaxBytes: server.bodiesMaxBytes,
    // A part of a divided limit still holds the longest answer.
    answersMaxBytes: Math.max(server.answersMaxBytes, upstreamPool.answerMaxBytes),
    batchAnswersMaxBytes: server.batchAnswersMaxBytes,
    batchConcurrency: server.batchConcurrency,
    envelope: { ...envelopeLimits, batchMax: server.batchCallsMax },
    proxies,
  });
}

/** The fast way for calls, before everything else on the port; null where it is not wanted. */
function rawDoor({ server }: Configuration, calls: RpcCalls, log: Logger): RawDoor | null {
  if (!server.rawDoor) return null;
  const { rawHeadMaxBytes: headMaxBytes, rawBodyMaxBytes: bodyMaxBytes } = server;
  return new RawDoor(calls, log, { ...server, headMaxBytes, bodyMaxBytes });
}

function streamGate(
  { websocket }: Configuration,
  parts: PipelineParts,
  { feed }: Upstreams,
  { sockets: places, quota }: Limits,
): StreamGate {
  const topics: TopicHubOptions = {
    topicsMax: websocket.topicsMax,
    addressesMax: websocket.addressesMax,
    idleMax: websocket.topicsIdleMax,
    graceMs: websocket.topicGraceMs,
    openTimeoutMs: websocket.topicOpenTimeoutMs,
    heldMax: websocket.topicHeldMax,
  };
  // The section itself, so that what is changed of it while the service runs is read there.
  const pace: Pick<MessagePaceOptions, 'messagesPerSecond'> = websocket;
  const holdings: HoldingLimits = websocket;
  const refusal = quota.exceeded.bind(quota);
  return new StreamGate({ ...parts, feed, places, refusal }, { topics, pace, holdings });
}

function webSocketDoor(
  { server, networks, websocket }: Configuration,
  gate: StreamGate,
  { answers, options: { batchAnswersMaxBytes } }: RpcCalls,
  proxies: TrustedProxies,
  log: Logger,
) {
  // Whole, so that an option which the configuration lacks does not compile.
  const options: WebSocketOptions = {
    path: webSocketOptions.path,
    network: networks.default,
    get connectionsMax() {
      return websocket.connectionsMax;
    },
    callsInFlightMax: websocket.callsInFlightMax,
    callsWaitingMax: websocket.callsWaitingMax,
    callsWaitingMaxBytes: websocket.callsWaitingMaxBytes,
    allCallsInFlightMax: websocket.allCallsInFlightMax,
    batchConcurrency: server.batchConcurrency,
    answers,
    batchAnswersMaxBytes,
    queueMaxBytes: websocket.queueMaxBytes,
    queuesMaxBytes: websocket.queuesMaxBytes,
    pingIntervalMs: websocket.pingIntervalMs,
    pongTimeoutMs: websocket.pongTimeoutMs,
    idleTimeoutMs: websocket.idleTimeoutMs,
    closeTimeoutMs: websocket.closeTimeoutMs,
    lookIntervalMs: websocket.lookIntervalMs,
    envelope: { ...envelopeLimits, batchMax: server.batchCallsMax },
    proxies,
  };
  return new WebSocketDialect(gate, log, options);
}

/** What the HTTP door shows and speaks; null where it speaks plain text. @throws TlsFileError */
function httpTls(configuration: Configuration): HttpTls | null {
  const files = httpTlsFiles(configuration);
  const { tls } = configuration.server;
  if (files === null || tls === null) return null;
  return { ...readTls(files), oldest: tls.minVersion, strictTransportSeconds: tls.hstsMaxAgeS };
}

function secureDoors(configuration: Configuration, http: HttpServer, grpc: GrpcDoor | null): SecureDoor[] {
  const files = httpTlsFiles(configuration);
  const reload: SecureDoor['reload'] = (identity) => http.reloadTls(identity);
  const ofHttp = files === null ? null : { name: 'the HTTP door', files, reload };
  return [ofHttp, grpc?.secure ?? null].filter((door) => door !== null);
}

/**
 * Builds the doors; nothing listens yet. Keys share one rate limit and one usage over all of them.
 * @param streams - null: there is no door for them.
 */
export function buildDoors(
  configuration: Configuration,
  access: Access,
  upstreams: Upstreams,
  streams: Streams | null,
  rest: RestServices,
  control: Control,
  observing: Observing,
  log: Logger,
): Doors {
  const { server, networks } = configuration;
  const proxies = new TrustedProxies(() => server.trustedProxies);
  const entrance = buildEntrance(configuration, access, observing);
  const sessions = new SlotSessions(configuration.sessions, access.limits.floors);
  const parts: PipelineParts = { ...entrance, source: upstreams.source, sessions, log };
  const gate = streamGate(configuration, parts, upstreams, access.limits);
  const calls = rpcCalls(configuration, parts, upstreams, proxies);
  const sockets = webSocketDoor(configuration, gate, calls, proxies, log);
  const facts = (): ReadinessFacts => readiness(http, access, upstreams, networks.default);
  const restInterface = restDoor(configuration, parts, upstreams, rest, proxies, access.limits);
  const routes = joinRoutes(
    rpcRoutes(calls),
    sockets.routes,
    restInterface.routes,
    control.routes(proxies),
    healthRoutes(facts),
    observing.routes({
      requestsInFlight: () => http.inFlight,
      connectionsRefused: () => ({
        http: http.connectionsRefused,
        grpc: grpc?.server.connectionsRefused ?? 0,
      }),
    }),
    dashboardDoor(log),
  );
  const refusals = new Map([
    ...[REST_PREFIX, IPFS_PREFIX].map((prefix) => [prefix, errorBody] as const),
    [CONTROL_PREFIX, controlRefusal],
  ]);
  const options = { ...server, tls: httpTls(configuration), proxies };
  const http: HttpServer = new HttpServer(
    routes,
    log,
    options,
    [sockets],
    refusals,
    rawDoor(configuration, calls, log),
  );
  const isReady = () => facts().upstreams.usable > 0;
  const grpc: GrpcDoor | null =
    streams === null
      ? null
      : buildGrpcDoor(configuration, { entrance, limits: access.limits, proxies, streams, isReady, log });
  const endWaits = (): void => {
    restInterface.endWaits();
    control.endStreams();
  };
  const close = (): void => {
    gate.close();
    grpc?.close();
  };
  return { http, grpc, secure: secureDoors(configuration, http, grpc), endWaits, close };
}

/** Ready is who can answer on the door that is open: nodes of other networks do not count. */
function readiness(
  http: HttpServer,
  access: Access,
  { pool, isDevelopment }: Upstreams,
  network: Network,
): ReadinessFacts {
  const nodes = pool.status().filter((node) => node.network === network);
  const usable = nodes.filter(({ state }) => state === 'healthy').length;
  return {
    store: access.keys.storeReachable ? 'up' : 'away',
    upstreams: { total: nodes.length, usable },
    draining: http.draining,
    mode: isDevelopment ? 'development' : 'production',
  };
}
