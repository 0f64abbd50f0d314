import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Logger } from '../base/log.ts';
import { ApiError } from '../control/api/api-error.ts';
import type { ReloadActor, ReloadResult } from '../control/api/services.ts';
import { errorText } from './error-text.ts';
import { reloadSocketFile } from './process/data-dir.ts';

type Reloader = (by: ReloadActor) => Promise<ReloadResult>;

const CONNECTIONS_MAX = 8;
const ACTOR_CHARACTERS_MAX = 64;

const actorOf = ({ headers }: IncomingMessage): string =>
  `cli:${String(headers['x-actor'] ?? 'unknown').slice(0, ACTOR_CHARACTERS_MAX)}`;

/** Only the owner of the data folder can connect, so the request needs no token. */
async function handle(request: IncomingMessage, response: ServerResponse, reload: Reloader): Promise<void> {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  request.resume();
  if (request.method !== 'POST' || request.url !== '/reload') return send(404, { error: 'not found' });
  try {
    send(200, await reload({ actor: actorOf(request), address: null, userAgent: null, requestId: null }));
  } catch (error) {
    send(error instanceof ApiError ? error.status : 500, { error: errorText(error) });
  }
}

/** Whether a process listens on the socket. The file alone proves nothing: a killed process leaves it behind. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}

/** Sets the socket's permissions through the umask: with a chmod after `listen`, others could connect in between. */
function listen(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.on('error', reject);
  const mask = process.umask(0o177);
  try {
    server.listen(path, resolve);
  } finally {
    process.umask(mask);
  }
  return promise;
}

/** Opens the socket for `solway reload`. SIGHUP and the control API work without it. @returns a close function. */
export async function openReloadSocket(
  dataDir: string,
  reload: Reloader,
  log: Logger,
): Promise<() => Promise<void>> {
  const path = reloadSocketFile(dataDir);
  const server = createServer((request, response) => void handle(request, response, reload));
  server.maxConnections = CONNECTIONS_MAX;
  try {
    if (await isListening(path)) throw new Error('another process uses the same data folder');
    await rm(path, { force: true });
    await listen(server, path);
  } catch (error) {
    log.warn({ path, reason: errorText(error) }, 'Reload socket unavailable; solway reload needs a token');
    return async () => {};
  }
  server.unref();
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
}
