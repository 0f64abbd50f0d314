import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { remoteApi } from '../control/api/client.ts';
import type { ReloadResult } from '../control/api/services.ts';
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
    return new ReloadError(`no permission for ${path}: run the command as the user that runs the service`);
  if (name === 'AbortError')
    return new ReloadError(`the service did not respond within ${TIMEOUT_MS / 1_000} s: see its log`);
  return new ReloadError(
    `the connection to ${path} failed (${code ?? 'no code'}): see the log of the service`,
  );
}

/**
 * Reloads the service that uses a data folder.
 * @param who - actor in the audit log.
 * @returns null when no service listens. @throws ReloadError
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

/** Reloads a remote service. @throws ApiError with the problems, ApiUnreachableError */
export const reloadRemotely = (url: string, token: string): Promise<ReloadResult> =>
  remoteApi({ url, token }).call('POST /reload', {});
