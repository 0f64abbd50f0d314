import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import { pick } from '../../config/option.ts';
import type { MessageRateOptions } from '../../gateway/limits/message-rate-limiter.ts';
import { createPipeline, type PipelineParts } from '../../gateway/pipeline.ts';
import { SessionMinSlots } from '../../gateway/session-min-slots.ts';
import { WebSocketGateway } from '../../gateway/websocket/session.ts';
import type { SubscriptionLimits } from '../../gateway/websocket/subscription-limits.ts';
import type { TopicHubOptions } from '../../gateway/websocket/topic-hub.ts';
import type { Network, RpcDispatcher } from '../../protocol/call.ts';
import { envelopeLimits } from '../../protocol/request-envelope.ts';
import { TrustedProxies } from '../../servers/client-address.ts';
import { ResponseCompression } from '../../servers/compression.ts';
import { FastHttpServer } from '../../servers/fast-path/server.ts';
import type { HttpTls } from '../../servers/http/options.ts';
import { joinRoutes } from '../../servers/http/routes.ts';
import { HttpServer } from '../../servers/http/server.ts';
import { IPFS_PREFIX } from '../../servers/ipfs/server.ts';
import { healthRoutes, type ReadinessFacts } from '../../servers/operator-routes.ts';
import { errorBody } from '../../servers/rest/encode.ts';
import { REST_PREFIX } from '../../servers/rest/server.ts';
import { RpcCalls } from '../../servers/rpc/calls.ts';
import { rpcRoutes } from '../../servers/rpc/server.ts';
import { statusRoutes } from '../../servers/status/routes.ts';
import { type WebSocketOptions, webSocketOptions } from '../../servers/websocket/options.ts';
import { WebSocketUpgrade } from '../../servers/websocket/server.ts';
import type { Feed } from '../../streams/feed.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';
import type { Access } from '../access.ts';
import { buildAdmissionServices } from '../admission.ts';
import { buildDashboardRoutes } from '../dashboard.ts';
import type { Limits } from '../limits.ts';
import { openStatus } from '../telemetry/open-status.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { buildGrpcListener, type GrpcListener, type GrpcStreams } from './grpc-listener.ts';
import { CONTROL_PREFIX, type Control, controlRejectionBody } from './open-control.ts';
import { buildRestInterface } from './rest-interface.ts';
import type { RestServices } from './rest-services.ts';
import { httpTlsFiles, readTls } from './tls-files.ts';
import type { TlsListener } from './tls-reload.ts';

/** Destinations of calls and subscriptions. */
type ServedUpstreams = Readonly<{
  pool: Pick<UpstreamPool, 'networks' | 'status'>;
  source: RpcDispatcher;
  feed: Feed;
  isDevelopment: boolean;
}>;

function rpcCalls(
  { server, networks, upstreamPool }: Configuration,
  parts: PipelineParts,
  { pool }: ServedUpstreams,
  proxies: TrustedProxies,
  compression: ResponseCompression,
): RpcCalls {
  return new RpcCalls(createPipeline(parts), {
    ...pick(server, ['bodyMaxBytes', 'bodiesMaxBytes', 'batchResponsesMaxBytes', 'batchConcurrency']),
    network: networks.default,
    served: () => pool.networks(),
    // A worker's share must still have room for the longest response.
    responsesMaxBytes: Math.max(server.responsesMaxBytes, upstreamPool.responseMaxBytes),
    envelope: { ...envelopeLimits, batchMax: server.batchCallsMax },
    compression,
    proxies,
  });
}

function buildFastHttpServer({ server }: Configuration, calls: RpcCalls, log: Logger): FastHttpServer | null {
  if (!server.fastPath) return null;
  const { fastPathHeadMaxBytes: headMaxBytes, fastPathBodyMaxBytes: bodyMaxBytes } = server;
  return new FastHttpServer(calls, log, { ...server, headMaxBytes, bodyMaxBytes });
}

function buildWebSocketGateway(
  { websocket }: Configuration,
  parts: PipelineParts,
  { feed }: ServedUpstreams,
  { sockets: connectionLimit, quota }: Limits,
): WebSocketGateway {
  const topics: TopicHubOptions = {
    topicsMax: websocket.topicsMax,
    addressesMax: websocket.addressesMax,
    idleMax: websocket.topicsIdleMax,
    graceMs: websocket.topicGraceMs,
    openTimeoutMs: websocket.topicOpenTimeoutMs,
    bufferedMax: websocket.topicBufferedMax,
  };
  // Passes the live section of the configuration, so that a reload takes effect.
  const messageRate: Pick<MessageRateOptions, 'messagesPerSecond'> = websocket;
  const subscriptionLimits: SubscriptionLimits = websocket;
  const rejection = quota.exceeded.bind(quota);
  return new WebSocketGateway(
    { ...parts, feed, connectionLimit, rejection },
    { topics, messageRate, subscriptionLimits },
  );
}

function buildWebSocketServer(
  { server, networks, websocket }: Configuration,
  gate: WebSocketGateway,
  { responseBudget, options: { batchResponsesMaxBytes } }: RpcCalls,
  proxies: TrustedProxies,
  log: Logger,
) {
  // With the complete type, a missing option is a compile error.
  const options: WebSocketOptions = {
    ...websocket,
    path: webSocketOptions.path,
    network: networks.default,
    get connectionsMax() {
      return websocket.connectionsMax;
    },
    batchConcurrency: server.batchConcurrency,
    responseBudget,
    batchResponsesMaxBytes,
    envelope: { ...envelopeLimits, batchMax: server.batchCallsMax },
    proxies,
  };
  return new WebSocketUpgrade(gate, log, options);
}

function httpTls(configuration: Configuration): HttpTls | null {
  const files = httpTlsFiles(configuration);
  const { tls } = configuration.server;
  if (files === null || tls === null) return null;
  return { ...readTls(files), minVersion: tls.minVersion, strictTransportSeconds: tls.hstsMaxAgeS };
}

function findTlsListeners(
  configuration: Configuration,
  http: HttpServer,
  grpc: GrpcListener | null,
): TlsListener[] {
  const files = httpTlsFiles(configuration);
  const reload: TlsListener['reload'] = (identity) => http.reloadTls(identity);
  const httpListener = files === null ? null : { name: 'HTTP listener', files, reload };
  return [httpListener, grpc?.tlsListener ?? null].filter((listener) => listener !== null);
}

/** Builds the listeners without opening them. @param streams - null: no gRPC listener. */
export function buildServers(
  configuration: Configuration,
  access: Access,
  upstreams: ServedUpstreams,
  streams: GrpcStreams | null,
  rest: RestServices,
  control: Control,
  telemetry: Telemetry,
  log: Logger,
) {
  const { server, networks } = configuration;
  const proxies = new TrustedProxies(server);
  const admissionServices = buildAdmissionServices(configuration, access, telemetry);
  const sessions = new SessionMinSlots(configuration.sessions, access.limits.minSlots);
  const parts: PipelineParts = { ...admissionServices, source: upstreams.source, sessions, log };
  const webSocketGateway = buildWebSocketGateway(configuration, parts, upstreams, access.limits);
  const compression = new ResponseCompression(server);
  const calls = rpcCalls(configuration, parts, upstreams, proxies, compression);
  const status = openStatus(configuration, access, upstreams, telemetry);
  const sockets = buildWebSocketServer(configuration, webSocketGateway, calls, proxies, log);
  const readinessFacts = (): ReadinessFacts => readiness(http, access, upstreams, networks.default);
  const restInterface = buildRestInterface(
    configuration,
    parts,
    upstreams.feed,
    rest,
    proxies,
    compression,
    access.limits,
  );
  const isReady = () => readinessFacts().upstreams.usable > 0;
  const grpcOptions = { admissionServices, limits: access.limits, proxies, isReady, log };
  const grpc: GrpcListener | null =
    streams === null ? null : buildGrpcListener(configuration, { ...grpcOptions, streams });
  const routes = joinRoutes(
    rpcRoutes(calls),
    grpc?.httpStreams.routes ?? new Map(),
    sockets.routes,
    restInterface.routes,
    control.routes(proxies),
    healthRoutes(readinessFacts),
    status === null ? new Map() : statusRoutes(() => status.read()),
    telemetry.routes({
      requestsInFlight: () => http.inFlight,
      connectionsRefused: () => ({
        http: http.connectionsRefused,
        grpc: grpc?.server.connectionsRefused ?? 0,
      }),
    }),
    buildDashboardRoutes(log),
  );
  const errorBodies = new Map([
    ...[REST_PREFIX, IPFS_PREFIX].map((prefix) => [prefix, errorBody] as const),
    [CONTROL_PREFIX, controlRejectionBody],
  ]);
  const options = { ...server, tls: httpTls(configuration), proxies };
  const fastHttp = buildFastHttpServer(configuration, calls, log);
  const http: HttpServer = new HttpServer(routes, log, options, [sockets], errorBodies, fastHttp);
  /** Ends REST requests and streams that could outlast the drain. */
  const endWaits = (): void => {
    restInterface.endWaits();
    grpc?.httpStreams.end();
    control.endStreams();
  };
  /** Ends all subscriptions. Must be called after the listeners are drained. */
  const close = async (): Promise<void> => {
    webSocketGateway.close();
    grpc?.close();
    await status?.stop();
  };
  return { http, grpc, tlsListeners: findTlsListeners(configuration, http, grpc), endWaits, close };
}

export type Servers = ReturnType<typeof buildServers>;

/** Readiness depends on the default network: `usable` counts its healthy nodes. */
function readiness(
  http: HttpServer,
  access: Access,
  { pool, isDevelopment }: ServedUpstreams,
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
