import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Logger } from '../base/log.ts';
import { ApiError } from '../control/api/api-error.ts';
import { remoteApi } from '../control/api/client.ts';
import type { ReloadActor, ReloadResult } from '../control/api/services.ts';
import { problemText } from './problem-text.ts';
import { reloadSocketFile } from './process/data-dir.ts';

export type { ReloadResult };

/** The service on this machine did not reload its configuration; the message says why. */
export class ReloadError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReloadError';
  }
}

const TIMEOUT_MS = 60_000;

const answer = z.union([
  z.object({ changed: z.array(z.string()), restart: z.array(z.string()) }),
  z.object({ error: z.string() }),
]);

/** @throws the system's error where nothing listens. */
function post(socketPath: string, who: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request({
    ...{
      socketPath,
      method: 'POST',
      path: '/reload',
      headers: { 'x-actor': who.replace(/[^\x20-\x7e]/g, '?') },
    },
    agent: false,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
    .on('response', (response) => text(response).then(resolve, reject))
    .on('error', reject)
    .end();
  return promise;
}

function failureOf(error: unknown, path: string): ReloadError | null {
  const { code, name } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR') return null;
  if (code === 'EACCES' || code === 'EPERM')
    return new ReloadError(
      `this user may not use ${path}: run the command as the user that runs the service`,
    );
  if (name === 'AbortError')
    return new ReloadError(`the service did not answer within ${TIMEOUT_MS / 1_000} s: see its log`);
  return new ReloadError(
    `the connection to ${path} failed (${code ?? 'no code'}): see the log of the service`,
  );
}

/**
 * Has the service that uses a data folder reload its configuration.
 * @param who - who acts, for the audit log.
 * @returns null where no service listens there. @throws ReloadError
 */
export async function reloadLocally(dataDir: string, who: string): Promise<ReloadResult | null> {
  const path = reloadSocketFile(dataDir);
  let body: string;
  try {
    body = await post(path, who);
  } catch (error) {
    const failure = failureOf(error, path);
    if (failure === null) return null;
    throw failure;
  }
  const answered = answer.parse(JSON.parse(body));
  if ('error' in answered) throw new ReloadError(answered.error);
  return answered;
}

/** The same of a service elsewhere. @throws ApiError with what is wrong, ApiUnreachableError */
export const reloadRemotely = (url: string, token: string): Promise<ReloadResult> =>
  remoteApi({ url, token }).call('POST /reload', {});

type Reloader = (by: ReloadActor) => Promise<ReloadResult>;

const CONNECTIONS_MAX = 8;
const ACTOR_CHARACTERS_MAX = 64;

const actorOf = ({ headers }: IncomingMessage): string =>
  `cli:${String(headers['x-actor'] ?? 'unknown').slice(0, ACTOR_CHARACTERS_MAX)}`;

/** Only the owner of the data folder can connect, so nobody is asked for a token. */
async function handle(request: IncomingMessage, response: ServerResponse, reload: Reloader): Promise<void> {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  request.resume();
  if (request.method !== 'POST' || request.url !== '/reload') return send(404, { error: 'not found' });
  try {
    send(200, await reload({ actor: actorOf(request), address: null, userAgent: null, requestId: null }));
  } catch (error) {
    send(error instanceof ApiError ? error.status : 500, { error: problemText(error) });
  }
}

/** Whether a process listens on the socket; a file without one was left by a process that was killed. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}

/** The socket is bound within `listen`, so that nobody else can connect between that and a chmod. */
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

/**
 * Opens the socket in the data folder through which `solway reload` reaches this process. A service that cannot open it
 * runs without: its configuration is reloaded by signal or through the control API.
 * @returns what closes it.
 */
export async function openReloadSocket(
  dataDir: string,
  reload: Reloader | undefined,
  log: Logger,
): Promise<() => Promise<void>> {
  if (reload === undefined) return async () => {};
  const path = reloadSocketFile(dataDir);
  const server = createServer((request, response) => void handle(request, response, reload));
  server.maxConnections = CONNECTIONS_MAX;
  try {
    if (await isListening(path)) throw new Error('another process uses the same data folder');
    await rm(path, { force: true });
    await listen(server, path);
  } catch (error) {
    log.warn({ path, problem: problemText(error) }, 'reload socket unavailable; solway reload needs a token');
    return async () => {};
  }
  server.unref();
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
}
