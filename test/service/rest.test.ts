import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from './start-service.ts';

type Sent = Readonly<{
  method?: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
}>;
type Reply = Readonly<{ status: number; result: unknown; code: string | undefined }>;

/** With a body for GET too, which fetch does not support. */
async function sendRequest(service: RunningService, endpoint: string, sent: Sent = {}): Promise<Reply> {
  const url = new URL(`/sol/v1/${endpoint}`, service.ready.url);
  for (const [name, value] of Object.entries(sent.query ?? {})) url.searchParams.set(name, value);
  const body = typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body);
  const headers = {
    'x-api-key': service.key,
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...sent.headers,
  };
  return new Promise((resolve, reject) => {
    const requesting = request(url, { method: sent.method ?? 'GET', headers }, async (response) => {
      const { result, error } = JSON.parse(await text(response));
      resolve({ status: response.statusCode ?? 0, result, code: error?.code });
    });
    requesting.on('error', reject).end(body);
  });
}

/** Files of a folder, recursively, that contain one of these texts. */
const filesWith = (folder: string, words: readonly string[]): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => {
      const bytes = readFileSync(file);
      return words.some((word) => bytes.includes(word));
    });

describe('client data', () => {
  /** In every input; hexadecimal, so that encodings do not change it. */
  const marker = randomBytes(12).toString('hex');
  const password = `correct ${marker}`;
  let service: RunningService;

  beforeAll(async () => {
    const configuration = '[localnet]\nslot_ms = 50\n[log]\nlevel = "trace"\n';
    service = await startService({ configuration });
  }, 60_000);
  afterAll(() => service?.stop());

  it('is in no log and no file', async () => {
    const made = await sendRequest(service, 'wallet/create_semi_wallet', {
      method: 'POST',
      body: { password },
    });
    const wallet = (made.result as { wallet_address: string }).wallet_address;
    const wrong = { wallet, password: `wrong ${marker}` };
    const answers = [
      made,
      await sendRequest(service, 'semi_wallet/get_keypair', { body: { wallet, password } }),
      await sendRequest(service, 'wallet/decrypt_semi_wallet', { body: wrong }),
      await sendRequest(service, 'semi_wallet/get_keypair', { query: wrong }),
      await sendRequest(service, 'semi_wallet/change_password', {
        method: 'POST',
        body: { wallet, current_password: password, new_password: `battery ${marker}` },
      }),
      await sendRequest(service, 'wallet/balance', { query: { wallet, note: marker } }),
      await sendRequest(service, 'wallet/balance', { query: { wallet: marker, network: marker } }),
      await sendRequest(service, 'wallet/balance', {
        query: { wallet },
        headers: { 'x-api-key': `key-${marker}` },
      }),
      await sendRequest(service, 'wallet/balance', {
        query: { wallet },
        headers: { cookie: marker, 'user-agent': marker, referer: `https://x/${marker}`, 'x-note': marker },
      }),
      await sendRequest(service, `wallet/${marker}`),
      await sendRequest(service, 'transaction/send_txn', {
        method: 'POST',
        body: { encoded_transaction: marker },
      }),
      await sendRequest(service, 'transaction/send_txn', {
        method: 'POST',
        body: `{"encoded_transaction": ${marker}`,
      }),
      await sendRequest(service, 'transaction/parsed', { query: { txn_signature: marker } }),
    ];
    expect(answers.map(({ status, code }) => code ?? status)).toEqual([
      ...[200, 200, 'WRONG_PASSWORD', 'WRONG_PASSWORD', 200],
      ...[200, 'INVALID_FIELDS', 'INVALID_KEY', 200],
      ...['NOT_FOUND', 'INVALID_FIELDS', 'INVALID_FIELDS', 'INVALID_FIELDS'],
    ]);
    const keypair = answers[1]?.result as Record<string, string>;
    const { secretKey = '' } = keypair;
    expect(secretKey).not.toBe('');
    const secrets = [marker, secretKey, service.key.slice(-38)];
    expect(filesWith(service.dataDir, secrets)).toEqual([]);
    // The search finds stored data: the address of the wallet.
    expect(filesWith(service.dataDir, [wallet])).not.toEqual([]);
    expect(await service.stop()).toBe(0);
    expect(filesWith(service.dataDir, secrets)).toEqual([]);
    // The key is in the ready line only.
    const [ready = '', ...logged] = service
      .output()
      .split('\n')
      .toSorted((a) => (a.includes('"event":"ready"') ? -1 : 1));
    expect(ready).toContain('"event":"ready"');
    expect(logged.length).toBeGreaterThan(3);
    expect(logged.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
  }, 60_000);
});
