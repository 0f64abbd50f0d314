import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../base/log.ts';
import type { NewKey } from '../control/keys/keys.ts';
import { rpcServerOptions } from '../servers/rpc/options.ts';
import { webSocketOptions } from '../servers/websocket/server.ts';
import { type Access, openAccess } from './access.ts';
import { openAddedNodes } from './added-nodes.ts';
import { callableHost } from './callable-host.ts';
import type { Seat } from './cluster/seat.ts';
import type { Configuration } from './configuration.ts';
import type { Environment } from './configuration-secrets.ts';
import { showConfiguration } from './configuration-view.ts';
import { openControl } from './control.ts';
import type { ReachedAt } from './control-services.ts';
import { openDataDir } from './data-dir.ts';
import { startsInDevelopment } from './development-mode.ts';
import { buildDoors, type Doors } from './doors.ts';
import type { Program } from './embedded-ledger.ts';
import { endpointFacts } from './endpoint-facts.ts';
import { type Ground, openGround } from './ground.ts';
import { checkPortFree, listeningAt } from './listen-once.ts';
import { grpcPlace, httpPlace } from './listen-places.ts';
import { LiveConfiguration } from './live-configuration.ts';
import { openMailer } from './mail.ts';
import type { NodesInForce } from './nodes-in-force.ts';
import { openNotices } from './notices.ts';
import { openObserving } from './observing.ts';
import { firstOperatorLink } from './operator-commands.ts';
import { problemText } from './problem-text.ts';
import { openFollowing, openReload, problemsOf, type Reloading, type Rereading } from './reload.ts';
import { openReloadSocket } from './reload-socket.ts';
import { openRestServices } from './rest-services.ts';
import { stopEach } from './stop-each.ts';
import { openStreams } from './streams.ts';
import { keepCertificates } from './tls-reload.ts';
import { openUpstreams, type Upstreams } from './upstreams.ts';

/** A node as it was at the start. */
export type NodeAtStart = Readonly<{ network: string; name: string; hasAnswered: boolean }>;

/** The running service. */
export type Service = Readonly<{
  /** Where it answers, without a path. */
  url: string;
  /** Where gRPC streams are opened, without a path; null where that door is not enabled. */
  grpcUrl: string | null;
  /** Whether anything tells of the shred stage; where nothing does, its keys are refused. */
  hasShredStage: boolean;
  /** The embedded ledger answers, not a Solana network. */
  isDevelopment: boolean;
  /** The nodes, and whether each has answered by the end of the start. */
  nodes: readonly NodeAtStart[];
  /** Keys that this start made; their secrets are shown now or never. */
  newKeys: readonly NewKey[];
  /** Where the operator's account is made, once; null where that was done or begun before. */
  setupUrl: string | null;
  /** Reads the configuration again, as at SIGHUP. Never rejects: the log says what came of it. */
  reload(): Promise<void>;
  /** Finishes what is under way, writes what is counted, stops the embedded ledger. */
  stop(): Promise<void>;
}>;

export type ServiceOptions = Readonly<{
  configuration: Configuration;
  environment: Environment;
  program: Program;
  log: Logger;
  /** Absent: it is not read again. */
  rereading?: Rereading;
  /** Where this process is one of several workers of one service; absent: it is all of it. */
  seat?: Seat;
}>;

/** How long the first answers of nodes are waited for before the service opens its doors all the same. */
const FIRST_ANSWER_TIMEOUT_MS = 2_000;

/** Address of the JSON-RPC door. */
export const rpcUrl = ({ url }: Pick<Service, 'url'>): string => `${url}${rpcServerOptions.path}`;

/** Address of the WebSocket door, without a key. */
export const wsUrl = ({ url }: Pick<Service, 'url'>): string =>
  `${url.replace(/^http/, 'ws')}${webSocketOptions.path}`;

/** What paths of the REST interface stand behind. */
export const restUrl = ({ url }: Pick<Service, 'url'>): string => `${url}/sol/v1`;

const urlOf = ({ address, port }: AddressInfo, scheme: 'http' | 'https'): string =>
  `${scheme}://${callableHost(address)}:${port}`;

/** Looks whether the ports can be had before anything slow is started. @throws ListenError */
export async function checkPorts(configuration: Configuration): Promise<void> {
  await checkPortFree(httpPlace(configuration));
  if (configuration.grpc.enabled) await checkPortFree(grpcPlace(configuration));
}

type OpenDoors = Pick<Service, 'url' | 'grpcUrl'>;

/**
 * Opens the doors.
 * @param stops - gets what drains those that are open, all at the same time.
 */
async function openDoors(
  { http, grpc, endWaits }: Doors,
  configuration: Configuration,
  stops: (() => Promise<unknown>)[],
): Promise<OpenDoors> {
  const { drainGraceMs, drainNoticeMs } = configuration.server;
  const drains: (() => Promise<unknown>)[] = [];
  stops.push(() => Promise.all(drains.map((drain) => drain())));
  const address = await listeningAt(httpPlace(configuration), () => http.listen());
  const url = urlOf(address, http.isSecure ? 'https' : 'http');
  drains.push(() => http.drain(drainGraceMs, drainNoticeMs));
  drains.push(() => sleep(drainNoticeMs).then(endWaits));
  if (grpc === null) return { url, grpcUrl: null };
  const grpcAddress = await listeningAt(grpcPlace(configuration), () => grpc.server.listen());
  drains.push(() => grpc.server.drain(drainGraceMs, drainNoticeMs));
  return { url, grpcUrl: urlOf(grpcAddress, grpc.secure === null ? 'http' : 'https') };
}

type Stops = (() => Promise<unknown>)[];

/** What there is one of: a worker has it from the primary. */
async function groundOf(
  { seat, program, log }: ServiceOptions,
  configuration: Configuration,
  store: Access['store'],
  stops: Stops,
): Promise<Ground> {
  if (seat === undefined) {
    const isDevelopment = await startsInDevelopment(configuration, store, log);
    return openGround(configuration, isDevelopment, program, log, stops);
  }
  const shreds = seat.openShreds(log);
  if (shreds !== null) stops.push(shreds.stop);
  return { shreds, ledger: seat.ledger };
}

/** How the configuration is read again: the primary does it for its workers. */
function reloadingOf(
  { seat, rereading, log }: ServiceOptions,
  live: LiveConfiguration,
  inForce: NodesInForce,
  access: Access,
): Reloading {
  if (seat === undefined) return openReload({ live, inForce, store: access.store, log }, rereading);
  seat.serve({
    refresh: access.refreshKeys,
    check: (changes) => problemsOf(changes, inForce.addedNames),
    apply: (configuration) => live.replace(configuration),
  });
  return openFollowing({ live, inForce, log }, rereading, seat.reload);
}

/** Waits for the nodes, a moment at most: the service starts without those that do not answer. */
async function firstAnswers({ pool }: Upstreams, { seat, log }: ServiceOptions): Promise<NodeAtStart[]> {
  await pool.waitUntilReady(FIRST_ANSWER_TIMEOUT_MS);
  const nodes = pool.status().map(({ network, name, silentMs }) => {
    return { network, name, hasAnswered: silentMs !== null };
  });
  const silent = nodes.filter(({ hasAnswered }) => !hasAnswered).map(({ name }) => name);
  const speaks = seat === undefined || seat.worker === 1;
  if (silent.length > 0 && speaks) log.warn({ nodes: silent }, 'upstream nodes do not answer at the start');
  return nodes;
}

/** Makes what the very first start makes, once the doors are open; for workers the primary does. */
async function firstThings(
  { seat }: ServiceOptions,
  configuration: Configuration,
  access: Access,
  url: string,
): Promise<Pick<Service, 'newKeys' | 'setupUrl'>> {
  if (seat !== undefined) return { newKeys: [], setupUrl: null };
  const newKeys = await access.createFirstKeys();
  return { newKeys, setupUrl: await firstOperatorLink(configuration, access.store, url) };
}

/**
 * Builds the house and opens its doors.
 * @throws what its parts throw when they cannot start; whatever had started is stopped again.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { environment, log, seat } = options;
  const live = new LiveConfiguration(options.configuration, seat?.partOf);
  const configuration = live.view;
  const stops: Stops = [];
  const stopAll = () => stopEach(stops.splice(0).reverse());
  try {
    // The primary has looked, and holds them.
    if (seat === undefined) await checkPorts(configuration);
    await openDataDir(configuration.dataDir);
    const access = await openAccess(configuration, environment, log, seat?.limits);
    stops.push(access.stop);
    const { shreds, ledger } = await groundOf(options, configuration, access.store, stops);
    const added = await openAddedNodes(access.store, access.peppers, log);
    stops.push(added.stop);
    const upstreams = openUpstreams(configuration, ledger, log, added.nodes);
    stops.push(upstreams.stop);
    shreds?.askFrom(upstreams.pool);
    const observing = openObserving(configuration, access, upstreams, seat ?? null, log);
    stops.push(observing.stop);
    await observing.start();
    const nodes = await firstAnswers(upstreams, options);
    const { enabled } = configuration.grpc;
    const streams = enabled ? openStreams(configuration, upstreams, shreds, log) : null;
    stops.push(async () => streams?.stop());
    const { inForce } = upstreams;
    added.follow(inForce);
    const reload = reloadingOf(options, live, inForce, access);
    const rest = await openRestServices(configuration, access, seat, log);
    stops.push(rest.stop);
    const { isDevelopment } = upstreams;
    let reached: ReachedAt = { url: '', grpcUrl: null, hasShredStage: shreds !== null, isDevelopment };
    const mailer = openMailer(configuration);
    const notices = await openNotices(configuration, access, mailer, log);
    stops.push(notices.stop);
    const control = openControl({
      configuration,
      store: access.store,
      peppers: access.peppers,
      endpoints: endpointFacts,
      source: upstreams.pool,
      mailer,
      reachedAt: () => reached,
      more: {
        ...{ ...notices.services, ...reload.services, nodes: added.facts(inForce), log: observing.log },
        takeUpKeys: access.refreshKeys,
        configuration: () => showConfiguration(live.current),
      },
      log,
    });
    stops.push(async () => control.stop());
    const doors = buildDoors(configuration, access, upstreams, streams, rest, control, observing, log);
    stops.push(async () => doors.close());
    const endWatch = keepCertificates(doors.secure, log);
    stops.push(async () => endWatch());
    const urls = await openDoors(doors, configuration, stops);
    rest.reachedAt(urls.url);
    observing.reachedAt(urls.url);
    reached = { ...reached, ...urls };
    // A worker has none: the primary's is for all.
    if (seat === undefined)
      stops.push(await openReloadSocket(configuration.dataDir, reload.services.reload, log));
    const first = await firstThings(options, configuration, access, urls.url);
    return { ...reached, nodes, ...first, reload: reload.forSignal, stop: stopAll };
  } catch (error) {
    await stopAll().catch((failure: unknown) => {
      log.warn({ problem: problemText(failure) }, 'not everything could be stopped');
    });
    throw error;
  }
}
