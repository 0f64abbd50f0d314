import type { AddressInfo } from 'node:net';
import type { Logger } from '../base/log.ts';
import type { NewKey } from '../control/keys.ts';
import { rpcServerOptions } from '../servers/rpc/server.ts';
import { webSocketOptions } from '../servers/websocket/server.ts';
import { openAccess } from './access.ts';
import type { Configuration } from './configuration.ts';
import type { Environment } from './configuration-secrets.ts';
import { openDataDir } from './data-dir.ts';
import { buildDoors } from './doors.ts';
import { checkPortFree } from './listen-once.ts';
import { problemText } from './problem-text.ts';
import { stopEach } from './stop-each.ts';
import { openUpstreams, type Program } from './upstreams.ts';

/** The running service. */
export type Service = Readonly<{
  /** Where it answers, without a path. */
  url: string;
  /** Keys that this start made; their secrets are shown now or never. */
  newKeys: readonly NewKey[];
  /** Finishes what is under way, writes what is counted, stops the embedded ledger. */
  stop(): Promise<void>;
}>;

export type ServiceOptions = Readonly<{
  configuration: Configuration;
  environment: Environment;
  program: Program;
  log: Logger;
}>;

/** How long the first answer of a node is waited for before the service opens its door all the same. */
const FIRST_ANSWER_TIMEOUT_MS = 2_000;

/** Address of the JSON-RPC door. */
export const rpcUrl = ({ url }: Pick<Service, 'url'>): string => `${url}${rpcServerOptions.path}`;

/** Address of the WebSocket door, without a key. */
export const wsUrl = ({ url }: Pick<Service, 'url'>): string =>
  `${url.replace(/^http/, 'ws')}${webSocketOptions.path}`;

function urlOf({ address, port, family }: AddressInfo): string {
  const anywhere = address === '0.0.0.0' || address === '::';
  const host = anywhere ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/**
 * Builds the house and opens its door.
 * @throws what its parts throw when they cannot start; whatever had started is stopped again.
 */
export async function startService({
  configuration,
  environment,
  program,
  log,
}: ServiceOptions): Promise<Service> {
  const stops: (() => Promise<unknown>)[] = [];
  const stopAll = () => stopEach(stops.splice(0).reverse());
  try {
    await checkPortFree(configuration.server.host, configuration.server.port, '--port');
    await openDataDir(configuration.dataDir);
    const access = await openAccess(configuration, environment, log);
    stops.push(access.stop);
    const upstreams = await openUpstreams(configuration, program, log);
    stops.push(upstreams.stop);
    await upstreams.pool.waitUntilReady(FIRST_ANSWER_TIMEOUT_MS);
    const doors = buildDoors(configuration, access, upstreams, log);
    stops.push(async () => doors.close());
    const address = await doors.http.listen();
    const { drainGraceMs, drainNoticeMs } = configuration.server;
    stops.push(() => doors.http.drain(drainGraceMs, drainNoticeMs));
    return { url: urlOf(address), newKeys: await access.createFirstKeys(), stop: stopAll };
  } catch (error) {
    await stopAll().catch((failure: unknown) => {
      log.warn({ problem: problemText(failure) }, 'not everything could be stopped');
    });
    throw error;
  }
}
