import { join } from 'node:path';
import { createControlToken } from '../../src/control/accounts/admin-tokens.ts';
import { type OpenOptions, openDatabase } from '../../src/control/database/open.ts';
import { openPeppers } from '../../src/control/pepper-proof.ts';

export type OperatorApi = Readonly<{
  /** Parses the response as JSON. @throws Error with the response on failure. */
  sendRequest: <Result>(verb: string, path: string, body?: object) => Promise<Result>;
  /** @throws Error with the response on failure. */
  sendText: (verb: string, path: string, body?: object) => Promise<string>;
  secret: string;
}>;

/** Creates an operator token in the database of a service, by default the embedded one. */
export async function operatorToken(
  dataDir: string,
  database: OpenOptions = { file: join(dataDir, 'solway.db') },
): Promise<string> {
  const store = await openDatabase(database);
  const peppers = await openPeppers(store, { text: undefined, file: undefined, dataDir });
  const given = {
    name: 'test',
    customer_id: null,
    role: 'owner' as const,
    created_by: 'test',
    created_at: Date.now(),
    expires_at: null,
  };
  const { secret } = await store.db.transaction().execute((trx) => createControlToken(trx, peppers, given));
  await store.close();
  return secret;
}

export async function operatorApi(
  url: string,
  dataDir: string,
  database?: OpenOptions,
): Promise<OperatorApi> {
  const secret = await operatorToken(dataDir, database);
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  async function sendText(verb: string, path: string, body?: object): Promise<string> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}/api/v1${path}`, { method: verb, headers, ...sent });
    const text = await response.text();
    if (!response.ok) throw new Error(`${verb} ${path} got ${response.status} ${text}`);
    return text;
  }
  return {
    secret,
    sendText,
    sendRequest: async <Result>(verb: string, path: string, body?: object) =>
      JSON.parse(await sendText(verb, path, body)) as Result,
  };
}
