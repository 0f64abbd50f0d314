import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../base/log.ts';
import type { Configuration } from '../config/configuration.ts';
import { LiveConfiguration } from '../config/live-configuration.ts';
import { showConfiguration } from '../config/render.ts';
import type { Environment } from '../config/sources.ts';
import type { ReloadActor } from '../control/api/services.ts';
import type { NewKey } from '../control/keys/create-key.ts';
import { rpcServerOptions } from '../servers/rpc/options.ts';
import { webSocketOptions } from '../servers/websocket/options.ts';
import { type Access, openAccess } from './access.ts';
import { openBilling } from './billing.ts';
import type { WorkerContext } from './cluster/worker-context.ts';
import { firstOperatorLink } from './commands/operators.ts';
import { clickHouseWarnings } from './configuration-warnings.ts';
import { decideDevelopmentMode } from './development-mode.ts';
import type { Program } from './localnet/localnet-process.ts';
import { openMailer, openNotices } from './notices.ts';
import { openDataDir } from './process/data-dir.ts';
import { logIncompleteShutdown, type StopFunctions, stopEach } from './process/stop-each.ts';
import { openWorkerReload, problemsOf, Reload, type ReloadService, type ReloadSource } from './reload.ts';
import { openReloadSocket } from './reload-socket.ts';
import type { ServiceAddress } from './servers/control-services.ts';
import { endpointFacts } from './servers/endpoint-facts.ts';
import {
  callableHost,
  checkPortFree,
  grpcListenAddress,
  httpListenAddress,
  listenAt,
} from './servers/listen.ts';
import { openControl } from './servers/open-control.ts';
import { openRestServices } from './servers/rest-services.ts';
import { buildServers, type Servers } from './servers/servers.ts';
import { reloadCertificatesOnChange } from './servers/tls-reload.ts';
import { openSharedServices, type SharedServices } from './shared-services.ts';
import { openNodeHistory } from './telemetry/open-node-history.ts';
import { openTelemetry } from './telemetry/telemetry.ts';
import type { ActiveNodes } from './upstreams/active-nodes.ts';
import { openAddedNodes } from './upstreams/added-nodes.ts';
import { openStreams } from './upstreams/streams.ts';
import { openUpstreams, type Upstreams } from './upstreams/upstreams.ts';

type NodeAtStart = Readonly<{ network: string; name: string; hasResponded: boolean }>;

export type Service = ServiceAddress &
  Readonly<{
    nodes: readonly NodeAtStart[];
    /** Keys created at the first start, with their secrets. */
    newKeys: readonly NewKey[];
    /** Link for creating the operator account; null if an operator or an unused link exists. */
    setupUrl: string | null;
    /** Reloads the configuration, as SIGHUP does. Never rejects: the result is logged. */
    reload(): Promise<void>;
    stop(): Promise<void>;
  }>;

export type ServiceOptions = Readonly<{
  configuration: Configuration;
  environment: Environment;
  program: Program;
  log: Logger;
  reloadSource: ReloadSource;
  /** Set in a worker; absent in a single process. */
  workerContext?: WorkerContext;
}>;

/** Maximum time to wait for nodes to respond before opening the listeners. */
const FIRST_RESPONSE_TIMEOUT_MS = 2_000;

export const rpcUrl = ({ url }: Pick<Service, 'url'>): string => `${url}${rpcServerOptions.path}`;

export const wsUrl = ({ url }: Pick<Service, 'url'>): string =>
  `${url.replace(/^http/, 'ws')}${webSocketOptions.path}`;

export const restUrl = ({ url }: Pick<Service, 'url'>): string => `${url}/sol/v1`;

const urlOf = ({ address, port }: AddressInfo, scheme: 'http' | 'https'): string =>
  `${scheme}://${callableHost(address)}:${port}`;

/** Checks that the ports are free, before anything slow starts. @throws ListenError */
export async function checkPorts(configuration: Configuration): Promise<void> {
  await checkPortFree(httpListenAddress(configuration));
  if (configuration.grpc.enabled) await checkPortFree(grpcListenAddress(configuration));
}

type ListenUrls = Pick<Service, 'url' | 'grpcUrl'>;

/** Opens the listeners. Adds a function to `stops` that drains all open listeners concurrently. */
async function openServers(
  { http, grpc, endWaits }: Servers,
  configuration: Configuration,
  stops: StopFunctions,
): Promise<ListenUrls> {
  const { drainGraceMs, drainNoticeMs } = configuration.server;
  const drains: StopFunctions = [];
  stops.push(() => Promise.all(drains.map((drain) => drain())));
  const address = await listenAt(httpListenAddress(configuration), () => http.listen());
  const url = urlOf(address, http.isSecure ? 'https' : 'http');
  drains.push(() => http.drain(drainGraceMs, drainNoticeMs));
  drains.push(() => sleep(drainNoticeMs).then(endWaits));
  if (grpc === null) return { url, grpcUrl: null };
  const grpcAddress = await listenAt(grpcListenAddress(configuration), () => grpc.server.listen());
  drains.push(() => grpc.server.drain(drainGraceMs, drainNoticeMs));
  return { url, grpcUrl: urlOf(grpcAddress, grpc.tlsListener === null ? 'http' : 'https') };
}

/** Opens the services that exist only once, even with several workers. A worker gets them from the primary. */
async function sharedServicesOf(
  { workerContext, program, log }: ServiceOptions,
  configuration: Configuration,
  store: Access['store'],
  stops: StopFunctions,
): Promise<SharedServices> {
  if (workerContext === undefined) {
    const isDevelopment = await decideDevelopmentMode(configuration, store, log);
    return openSharedServices(configuration, isDevelopment, program, log, stops);
  }
  const shreds = workerContext.openShreds(log);
  if (shreds !== null) stops.push(shreds.stop);
  return { shreds, ledger: workerContext.ledger };
}

function reloadServiceOf(
  { workerContext, reloadSource, log }: ServiceOptions,
  live: LiveConfiguration,
  activeNodes: ActiveNodes,
  access: Access,
): ReloadService {
  if (workerContext === undefined)
    return new Reload({ live, activeNodes, store: access.store, log, reloadSource });
  workerContext.setCallbacks({
    refresh: access.refreshKeys,
    check: (changes) => problemsOf(changes, activeNodes.addedNames),
    apply: (configuration) => live.replace(configuration),
  });
  return openWorkerReload({ live, activeNodes, log }, reloadSource, workerContext.reload);
}

/** Waits briefly for the nodes. The service starts even if some do not respond. */
async function waitForFirstResponses(
  { pool }: Upstreams,
  { workerContext, log }: ServiceOptions,
): Promise<NodeAtStart[]> {
  await pool.waitUntilReady(FIRST_RESPONSE_TIMEOUT_MS);
  const nodes = pool.status().map(({ network, name, silentMs }) => {
    return { network, name, hasResponded: silentMs !== null };
  });
  const unresponsive = nodes.filter(({ hasResponded }) => !hasResponded).map(({ name }) => name);
  const logsUnresponsive = workerContext === undefined || workerContext.worker === 1;
  if (unresponsive.length > 0 && logsUnresponsive)
    log.warn({ nodes: unresponsive }, 'Some nodes did not respond at startup');
  return nodes;
}

/** Creates the first keys and the setup link after the listeners are open. In a cluster, the primary does this. */
async function runFirstStart(
  { workerContext }: ServiceOptions,
  configuration: Configuration,
  access: Access,
  url: string,
): Promise<Pick<Service, 'newKeys' | 'setupUrl'>> {
  if (workerContext !== undefined) return { newKeys: [], setupUrl: null };
  const newKeys = await access.createFirstKeys();
  return { newKeys, setupUrl: await firstOperatorLink(configuration, access.store, url) };
}

async function openData(options: ServiceOptions, configuration: Configuration): Promise<Access> {
  const { environment, log, workerContext } = options;
  if (workerContext === undefined) await checkPorts(configuration);
  if (workerContext === undefined || workerContext.worker === 1)
    for (const warning of clickHouseWarnings(configuration)) log.warn(warning);
  await openDataDir(configuration.dataDir);
  return openAccess(configuration, environment, log, workerContext?.limits);
}

/** @throws the error of the part that failed, after stopping the parts that had started */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { log, workerContext } = options;
  const live = new LiveConfiguration(options.configuration, workerContext?.toWorkerConfiguration);
  const configuration = live.view;
  const stops: StopFunctions = [];
  const stopAll = () => stopEach(stops.splice(0).reverse());
  try {
    const access = await openData(options, configuration);
    stops.push(access.stop);
    const { shreds, ledger } = await sharedServicesOf(options, configuration, access.store, stops);
    const added = await openAddedNodes(configuration, access, log);
    stops.push(added.stop);
    const upstreams = openUpstreams(configuration, ledger, log, added.nodes);
    stops.push(upstreams.stop);
    shreds?.setDispatcher(upstreams.pool);
    const telemetry = openTelemetry(configuration, access, upstreams, workerContext ?? null, log);
    stops.push(telemetry.stop);
    await telemetry.start();
    const { gatewayId } = telemetry;
    const history = openNodeHistory(access.store, gatewayId, upstreams.pool, configuration.nodeHistory, log);
    stops.push(history.stop);
    history.start();
    const nodes = await waitForFirstResponses(upstreams, options);
    const streams = configuration.grpc.enabled ? openStreams(configuration, upstreams, shreds, log) : null;
    stops.push(async () => streams?.stop());
    const { activeNodes, isDevelopment } = upstreams;
    added.follow(activeNodes);
    const reload = reloadServiceOf(options, live, activeNodes, access);
    const rest = await openRestServices(configuration, access, workerContext, log);
    stops.push(rest.stop);
    const hasShredStage = shreds !== null;
    let serviceAddress: ServiceAddress = { url: '', grpcUrl: null, hasShredStage, isDevelopment };
    const mailer = openMailer(configuration);
    const notices = await openNotices(configuration, access, telemetry, mailer, log);
    stops.push(notices.stop);
    const billing = openBilling(configuration, access, log);
    stops.push(billing.stop);
    const { store, peppers, refreshKeys } = access;
    const forCaller = (by: ReloadActor) => reload.forCaller(by);
    const additionalServices = {
      ...{ ...notices.services, reload: forCaller, nodes: added.nodeFacts(activeNodes), refreshKeys },
      ...{ log: telemetry.log, configuration: () => showConfiguration(live.current), stripe: billing.stripe },
    };
    const control = openControl({
      ...{ configuration, store, peppers, endpoints: endpointFacts, dispatcher: upstreams.pool },
      ...{ mailer, additionalServices, log },
      serviceAddress: () => serviceAddress,
    });
    stops.push(async () => control.stop());
    const servers = buildServers(configuration, access, upstreams, streams, rest, control, telemetry, log);
    stops.push(servers.close);
    const endWatch = reloadCertificatesOnChange(servers.tlsListeners, log);
    stops.push(async () => endWatch());
    // A gateway that is ready must also answer gRPC calls.
    await streams?.waitForFirstSlot(FIRST_RESPONSE_TIMEOUT_MS);
    const urls = await openServers(servers, configuration, stops);
    rest.setUrl(urls.url);
    telemetry.setUrl(urls.url);
    serviceAddress = { ...serviceAddress, ...urls };
    if (workerContext === undefined)
      stops.push(await openReloadSocket(configuration.dataDir, forCaller, log));
    const first = await runFirstStart(options, configuration, access, urls.url);
    return { ...serviceAddress, nodes, ...first, reload: () => reload.forSignal(), stop: stopAll };
  } catch (error) {
    await stopAll().catch(logIncompleteShutdown(log));
    throw error;
  }
}
