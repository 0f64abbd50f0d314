import { join } from 'node:path';
import { createAdminToken } from '../../src/control/accounts/admin-tokens.ts';
import { type OpenOptions, openDatabase } from '../../src/control/database/open.ts';
import { openPeppers } from '../../src/control/pepper-proof.ts';

/** What a program asks the control API with a token of the operator's. */
export type OperatorApi = Readonly<{
  /** Asks, and reads the answer as JSON. @throws Error that shows an answer which is none of success. */
  sendRequest: <Result>(verb: string, path: string, body?: object) => Promise<Result>;
  /** The answer as it comes. */
  open: (path: string, signal: AbortSignal) => Promise<Response>;
  secret: string;
}>;

/** Makes a token of the operator's in the store of a service: the embedded one unless another is named. */
export async function operatorToken(
  dataDir: string,
  place: OpenOptions = { file: join(dataDir, 'solway.db') },
): Promise<string> {
  const store = await openDatabase(place);
  const peppers = await openPeppers(store, { text: undefined, file: undefined, dataDir });
  const given = {
    name: 'test',
    customerId: null,
    role: 'owner' as const,
    createdBy: 'test',
    createdAt: Date.now(),
    expiresAt: null,
  };
  const { secret } = await store.db.transaction().execute((trx) => createAdminToken(trx, peppers, given));
  await store.close();
  return secret;
}

/** What the control API of a service that runs on SQLite is asked with. */
export async function operatorApi(url: string, dataDir: string): Promise<OperatorApi> {
  const secret = await operatorToken(dataDir);
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  return {
    secret,
    async sendRequest<Result>(verb: string, path: string, body?: object) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(`${url}/api/v1${path}`, { method: verb, headers, ...sent });
      const text = await response.text();
      if (!response.ok) throw new Error(`${verb} ${path} got ${response.status} ${text}`);
      return JSON.parse(text) as Result;
    },
    open: (path, signal) => fetch(`${url}/api/v1${path}`, { headers, signal }),
  };
}
