import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { OperatorError } from '../base/operator-error.ts';
import { remoteApi } from '../control/api/client.ts';
import type { ReloadResult } from '../control/api/services.ts';
import { reloadSocketFile } from './process/data-dir.ts';

export type { ReloadResult };

const TIMEOUT_MS = 60_000;

const reloadResponse = z.union([
  z.object({ changed: z.array(z.string()), restart: z.array(z.string()) }),
  z.object({ error: z.string() }),
]);

function post(socketPath: string, actor: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { 'x-actor': actor.replace(/[^\x20-\x7e]/g, '?') };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  request({ socketPath, method: 'POST', path: '/reload', headers, agent: false, signal })
    .on('response', (response) => text(response).then(resolve, reject))
    .on('error', reject)
    .end();
  return promise;
}

function failureOf(error: unknown, path: string): OperatorError | null {
  const { code, name } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR') return null;
  if (code === 'EACCES' || code === 'EPERM')
    return new OperatorError(`no permission for ${path}: run the command as the user that runs the service`);
  if (name === 'AbortError')
    return new OperatorError(`the service did not respond within ${TIMEOUT_MS / 1_000} s: see its log`);
  return new OperatorError(
    `the connection to ${path} failed (${code ?? 'no code'}): see the log of the service`,
  );
}

/** @returns null if no service listens on the socket. @throws OperatorError */
export async function reloadLocally(dataDir: string, actor: string): Promise<ReloadResult | null> {
  const path = reloadSocketFile(dataDir);
  let body: string;
  try {
    body = await post(path, actor);
  } catch (error) {
    const failure = failureOf(error, path);
    if (failure === null) return null;
    throw failure;
  }
  const response = reloadResponse.parse(JSON.parse(body));
  if ('error' in response) throw new OperatorError(response.error);
  return response;
}

/** @throws ApiError with the configuration problems, or OperatorError */
export const reloadRemotely = (url: string, token: string): Promise<ReloadResult> =>
  remoteApi({ url, token }).call('POST /reload', {});
