import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { base58 } from '@scure/base';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { healthy } from '../upstream/mock/behaviors.ts';
import { startMock } from '../upstream/mock/server.ts';
import { temporaryFolder } from './program.ts';
import { createRpcClient } from './rpc-client.ts';
import { type RunningService, startService } from './start-service.ts';

const PASSWORD = 'a password that nobody reads';
const WALLET_PASSWORD = 'the password of a wallet';
const EMAIL = 'operator@example.com';
const NODE_KEY = 'the-key-of-a-node-that-was-added';
const NODE_TOKEN = 'the-token-of-a-node-that-was-added';

type Json = { readonly [name: string]: Json } & readonly Json[] & string;

/** The clients of a dashboard user and of a customer's program. */
class Person {
  readonly #service: RunningService;
  readonly #cookies = new Map<string, string>();

  constructor(service: RunningService) {
    this.#service = service;
  }

  get sessionTokens(): string[] {
    // Each cookie is a token and its signature; neither may appear.
    return [...this.#cookies.values()].flatMap((value) => decodeURIComponent(value).split('.'));
  }

  async send(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Json> {
    const { url } = this.#service.ready;
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        origin: url,
        'x-solway': '1',
        'content-type': 'application/json',
        cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...headers,
      },
      body: JSON.stringify(body ?? {}),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value !== '') this.#cookies.set(name, value);
    }
    const json = (await answer.json()) as Json;
    expect([path, answer.status, answer.ok ? '' : json]).toEqual([path, 200, '']);
    return json;
  }
}

/** Sends a REST request; GET has its fields in the query. */
async function sendRequest(
  { ready, key }: RunningService,
  method: 'GET' | 'POST',
  endpoint: string,
  fields: Record<string, string>,
): Promise<Json> {
  const url = new URL(`/sol/v1/${endpoint}`, ready.url);
  if (method === 'GET') url.search = String(new URLSearchParams(fields));
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const body = method === 'GET' ? null : JSON.stringify(fields);
  return (await (await fetch(url, { method, headers, body })).json()) as Json;
}

/** Uses every feature that creates a secret. @returns the secrets by name. */
async function live(service: RunningService): Promise<Record<string, string>> {
  const setup = /#token=([^"&\s]+)/.exec(service.output())![1]!;
  const person = new Person(service);
  const account = { name: 'Operator', email: EMAIL, password: PASSWORD, invitation: setup };
  await person.send('/api/auth/sign-up/email', account);
  await person.send('/api/v1/invitations/accept', { token: setup });
  const factor = await person.send('/api/auth/two-factor/enable', { password: PASSWORD });
  const seed = new URL(factor.totpURI!).searchParams.get('secret')!;
  const token = await person.send('/api/v1/tokens', { name: 'program' });
  const customerPath = '/api/v1/customers/house';
  const webhook = await person.send(`${customerPath}/notices`, {
    kind: 'webhook',
    to: 'https://example.com/hook',
  });
  await person.send('/api/v1/upstreams', {
    ...{ network: 'devnet', name: 'added', url: `http://127.0.0.1:1/${NODE_KEY}`, force: true },
    ...{ grpc: `http://127.0.0.1:1/${NODE_KEY}`, headers: { 'x-token': NODE_TOKEN } },
  });
  const invited = await person.send(`${customerPath}/invitations`, {
    email: 'x@example.com',
    role: 'viewer',
  });
  const authorization = { authorization: `Bearer ${token.secret}` };
  const body = { product: 'rpc', name: 'by a token', logsBodies: true };
  const made = await new Person(service).send(`${customerPath}/keys`, body, authorization);
  const rotated = await person.send(`${customerPath}/keys/${made.key!.id}/rotate`, {});
  const keys = service.ready.keys.map(({ key }) => key);
  for (const key of [made.secret!, rotated.secret!, service.key]) {
    await createRpcClient(service.ready.rpcUrl, key).call('getHealth');
    await fetch(`${service.ready.rpcUrl}?api-key=${key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getBalance', params: [key] }),
    });
    await fetch(`${service.ready.url}/nowhere/${key}`, {
      headers: { referer: `https://a.example/?key=${key}` },
    });
  }
  const password = WALLET_PASSWORD;
  const wallet = await sendRequest(service, 'POST', 'wallet/create_semi_wallet', { password });
  const address = wallet.result!.wallet_address!;
  const pair = await sendRequest(service, 'GET', 'semi_wallet/get_keypair', { wallet: address, password });
  const secretKey = pair.result!.secretKey!;
  return {
    ...Object.fromEntries([...keys, made.secret, rotated.secret].map((key, nth) => [`key ${nth}`, key!])),
    'set-up link': setup,
    invitation: /#token=([^"]+)"/.exec(JSON.stringify(invited))![1]!,
    password: PASSWORD,
    'TOTP seed': seed,
    ...Object.fromEntries(
      (factor.backupCodes! as readonly string[]).map((code, nth) => [`backup code ${nth}`, code]),
    ),
    ...Object.fromEntries(person.sessionTokens.map((part, nth) => [`session ${nth}`, part])),
    'token for programs': token.secret!,
    'secret of a webhook': webhook.secret!,
    'address of a node': NODE_KEY,
    'header of a node': NODE_TOKEN,
    'password of a wallet': WALLET_PASSWORD,
    'secret key of a wallet': secretKey,
  };
}

function formsOf(name: string, secret: string): Buffer[] {
  const plain = Buffer.from(secret);
  const forms = [
    plain,
    Buffer.from(plain.toString('hex')),
    Buffer.from(plain.toString('base64').replace(/=+$/, '')),
  ];
  // The random part of a key must not appear alone either.
  if (name.startsWith('key ')) forms.push(Buffer.from(secret.slice(-38, -6)));
  if (name.startsWith('secret key')) {
    const bytes = Buffer.from(base58.decode(secret));
    forms.push(bytes.subarray(0, 32), Buffer.from(bytes.subarray(0, 32).toString('hex')));
  }
  return forms;
}

const filesOf = (folders: readonly string[]): [string, Buffer][] =>
  folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name))] as [string, Buffer]),
  );

async function dump(database: { url: string } | { file: string }): Promise<Buffer> {
  const store = await openDatabase(database);
  const tables = await store.db.introspection.getTables();
  const rows: unknown[] = [];
  for (const { name } of tables)
    rows.push((await sql`select * from ${sql.table(name)}`.execute(store.db)).rows);
  await store.close();
  return Buffer.from(JSON.stringify(rows));
}

for (const kind of ['SQLite', 'PostgreSQL'] as const)
  it.skipIf(kind === 'PostgreSQL' && postgresPrograms === null)(
    `no secret is stored in plain text on ${kind}: not in the database, its log, the journal, the log or any other file`,
    async () => {
      const server = kind === 'PostgreSQL' ? await startPostgres(postgresPrograms!) : null;
      const mock = await startMock(healthy());
      try {
        const url = await server?.createDatabase();
        const log = join(temporaryFolder('log'), 'solway.log');
        const service = await startService({
          configuration: [
            `[[upstream]]\nurl = "${mock.url}"`,
            `[log]\nlevel = "trace"\nfile = "${log}"`,
            // Every file is searched.
            '[cache]\ndisk_max_bytes = 1_000_000',
            url === undefined ? '' : `[store]\ndatabase_url = "${url}"`,
          ].join('\n'),
        });
        const secrets = await live(service);
        const { dataDir } = service;
        expect(await service.stop()).toBe(0);
        const folders = [dataDir, ...(url === undefined ? [] : [new URL(url).searchParams.get('host')!])];
        const table = await dump(url === undefined ? { file: join(dataDir, 'solway.db') } : { url });
        await server?.kill();
        const all: [string, Buffer][] = [
          ...filesOf(folders).filter(([name]) => name !== 'pepper'),
          ['dump', table],
          ['log', readFileSync(log)],
          ['output', Buffer.from(service.output().replace(/^\{"event":"ready".*$/m, ''))],
        ];
        const holding = (form: Buffer) =>
          all.filter(([, bytes]) => bytes.includes(form)).map(([name]) => name);
        // Finding a public value proves that the search works.
        expect(holding(Buffer.from(EMAIL)).length).toBeGreaterThan(1);
        expect(holding(Buffer.from(service.ready.keys[0]!.id)).length).toBeGreaterThan(1);
        const found = Object.entries(secrets).flatMap(([name, secret]) =>
          formsOf(name, secret).flatMap((form) => holding(form).map((file) => `${name} in ${file}`)),
        );
        expect(found).toEqual([]);
        expect(Object.keys(secrets).length).toBeGreaterThan(20);
      } finally {
        await mock.close();
        await server?.destroy();
      }
    },
  );
