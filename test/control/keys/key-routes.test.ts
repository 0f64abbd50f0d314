import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import { ApiError } from '../../../src/control/api/api-error.ts';
import type { ContractName, RouteInput } from '../../../src/control/api/contract/contract.ts';
import type { ApiCaller, Handlers } from '../../../src/control/api/handler.ts';
import { keyHandlers } from '../../../src/control/api/handlers/keys.ts';
import { ControlApi } from '../../../src/control/api/server/control-api.ts';
import type { ApiServices } from '../../../src/control/api/services.ts';
import type { Store } from '../../../src/control/database/open.ts';
import { createKey } from '../../../src/control/keys/create-key.ts';
import { reportLeaks } from '../../../src/control/keys/leaked-keys.ts';
import { generateApiKey } from '../../../src/gateway/auth/api-key.ts';
import { registerOn, testPeppers } from '../register.ts';
import { describeOnBothStores, describeOnSqlite } from '../stores.ts';
import { withValidatedOutput } from '../validate-output.ts';

const NOW = Date.UTC(2027, 0, 15, 12, 30);
const HOUR = 3_600_000;
const silent = createLogger('silent', () => undefined);
const scanner = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = scanner.publicKey.export({ type: 'spki', format: 'pem' }).toString();

const path = { customer: 'acme' };
const tokens = { developer: 'TTTTTTTT', viewer: 'VVVVVVVV' } as const;
const member = (role: 'viewer' | 'developer'): ApiCaller => ({
  kind: 'token',
  tokenId: tokens[role],
  customerId: 'acme',
  role,
});
const operator: ApiCaller = { kind: 'local', name: 'test' };

type Given = Readonly<{ revokeLeaked?: boolean; customerKeysMax?: number; takeUpKeys?: () => Promise<void> }>;

async function startApi(store: Store, given: Given = {}) {
  const { revokeLeaked = false, customerKeysMax = 50, takeUpKeys } = given;
  await registerOn(store);
  await store.db
    .insertInto('customer')
    .values({ id: 'acme', name: 'Acme', plan_id: 'default', state: 'active', created_at: 0, version: 0 })
    .execute();
  for (const [role, id] of Object.entries(tokens) as [keyof typeof tokens, string][]) {
    const named = { id, name: role, digest: id, pepper_version: 1, customer_id: 'acme', role };
    const times = {
      created_by: 'test',
      created_at: 0,
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    };
    await store.db
      .insertInto('admin_token')
      .values({ ...named, ...times })
      .execute();
  }
  const services = {
    store,
    peppers: testPeppers,
    keys: {
      keysMax: 100,
      customerKeysMax,
      overlapHours: 2,
      revokeLeaked,
      scannerKeys: [{ id: 'scanner-1', pem }],
    },
    now: () => NOW,
    takeUpKeys,
  } as unknown as ApiServices;
  const handlers = keyHandlers(services) as Handlers;
  const api = new ControlApi({ services, handlers: withValidatedOutput(handlers), log: silent });
  const invoke = <Name extends ContractName>(
    name: Name,
    requested: RouteInput<Name>,
    caller: ApiCaller = member('developer'),
    headers: Record<string, string> = {},
    rawBody: Uint8Array | null = null,
  ) => {
    const { path = {}, query = {}, body } = requested as Partial<Parameters<ControlApi['dispatch']>[1]>;
    return api.dispatch(
      name,
      { path, query, body },
      {
        caller,
        address: '192.0.2.9',
        userAgent: 'test agent',
        requestId: 'request-1',
        rawBody,
        header: (header) => headers[header] ?? null,
        signal: AbortSignal.timeout(60_000),
      },
    );
  };
  const make = (caller?: ApiCaller, into = path) =>
    invoke('POST /customers/{customer}/keys', { path: into, body: { product: 'rpc', name: 'x' } }, caller);
  return { invoke, make };
}

const refusal = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => new Error('nothing was refused'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw error;
  return { status: error.status, code: error.code, fields: error.fields ?? {} };
};

describeOnSqlite('the key routes', ({ open }) => {
  it('return the secret even if this gateway cannot apply the change', async () => {
    const { make } = await startApi(await open(), { takeUpKeys: () => new Promise(() => {}) });
    const made = await make();
    expect(made.secret).toMatch(/^svc_rpc_live_/);
  }, 10_000);

  it('create, show, change, rotate, cut, disable and revoke keys, and audit the source', async () => {
    const store = await open();
    const { invoke, make } = await startApi(store);
    const made = await make();
    expect(made.secret.startsWith(made.key.start)).toBe(true);
    const own = { ...path, key: made.key.id };
    await invoke('PATCH /customers/{customer}/keys/{key}', { path: own, body: { methods: ['getSlot'] } });
    const rotated = await invoke('POST /customers/{customer}/keys/{key}/rotate', { path: own, body: {} });
    expect([rotated.key.methods, rotated.old.expiresAt]).toEqual([['getSlot'], NOW + 2 * HOUR]);
    const shown = await invoke('GET /customers/{customer}/keys/{key}', { path: own }, member('viewer'));
    expect(shown.family.map(({ id }) => id).toSorted()).toEqual([made.key.id, rotated.key.id].toSorted());
    expect((await invoke('POST /customers/{customer}/keys/{key}/cut', { path: own })).state).toBe('expired');
    const next = { ...path, key: rotated.key.id };
    const states: string[] = [];
    for (const verb of ['disable', 'enable', 'revoke'] as const)
      states.push((await invoke(`POST /customers/{customer}/keys/{key}/${verb}`, { path: next })).state);
    expect(states).toEqual(['disabled', 'active', 'revoked']);
    const lines = await store.db.selectFrom('audit').selectAll().where('key_id', 'is not', null).execute();
    expect(lines).toHaveLength(8);
    for (const line of lines)
      expect(line).toMatchObject({
        actor: 'token:TTTTTTTT',
        customer_id: 'acme',
        address: '192.0.2.9',
        user_agent: 'test agent',
        request_id: 'request-1',
      });
    expect(JSON.stringify(lines)).not.toContain(made.secret.slice(21, -6));
  });

  it('accept origins in any form and return the normalized one', async () => {
    const { invoke } = await startApi(await open());
    const origins = ['HTTPS://Bücher.example:443', 'http://*.Bücher.example:8080/', 'http://[::1]:3000'];
    const normal = [
      'https://xn--bcher-kva.example',
      'http://*.xn--bcher-kva.example:8080',
      'http://[::1]:3000',
    ];
    const body = { product: 'rpc', name: 'x', origins } as const;
    const { key } = await invoke('POST /customers/{customer}/keys', { path, body });
    expect(key.origins).toEqual(normal);
    for (const origin of [
      'https://a.example/path',
      'https://a.example\\path',
      'https://u@a.example',
      'ftp://a',
    ])
      expect(
        await refusal(
          invoke('PATCH /customers/{customer}/keys/{key}', {
            path: { ...path, key: key.id },
            body: { origins: [origin] },
          }),
        ),
      ).toMatchObject({
        status: 422,
        fields: { 'origins.0': expect.stringContaining('https://app.example.com') },
      });
  });

  it('reject requests with status, code and field', async () => {
    const { invoke, make } = await startApi(await open(), { customerKeysMax: 1 });
    const create = (body: object) =>
      refusal(
        invoke('POST /customers/{customer}/keys', { path, body: { product: 'rpc', name: 'x', ...body } }),
      );
    expect(await create({ origins: ['https://*.com'] })).toMatchObject({
      status: 422,
      fields: { origins: expect.stringContaining('is not a web origin') },
    });
    expect(await create({ rate: { perSecond: 9_000, burst: 1 } })).toMatchObject({
      status: 422,
      fields: { 'rate.perSecond': expect.stringContaining('10, the maximum of plan "default"') },
    });
    expect(await create({ planId: 'gold' })).toMatchObject({
      status: 403,
      fields: { planId: expect.any(String) },
    });
    expect(await create({ planId: 'rehearsal' })).toMatchObject({ status: 422, code: 'INVALID_FIELDS' });
    await make();
    expect(await refusal(make())).toMatchObject({ status: 409, code: 'LIMIT' });
    const { key } = await make(operator, { customer: 'house' });
    const others = { ...path, key: key.id };
    expect(await refusal(invoke('GET /customers/{customer}/keys/{key}', { path: others }))).toMatchObject({
      status: 404,
    });
    const fixture = { customer: 'house', key: key.id };
    const revoke = invoke('POST /customers/{customer}/keys/{key}/revoke', { path: fixture });
    expect((await refusal(revoke)).status).toBe(404);
    const cut = invoke('POST /customers/{customer}/keys/{key}/cut', { path: fixture }, operator);
    expect(await refusal(cut)).toMatchObject({ status: 409, code: 'WRONG_STATE' });
    expect((await refusal(make(member('viewer')))).status).toBe(403);
  });
});

describeOnBothStores('the list of keys', ({ open }) => {
  it('has pages with recent activity', async () => {
    const store = await open();
    const { invoke, make } = await startApi(store);
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) {
      const made = await make();
      ids.push(made.key.id);
    }
    const hour = Math.floor(NOW / HOUR);
    const row = {
      customer_id: 'acme',
      key_id: ids[0]!,
      product: 'rpc',
      method: 'getSlot',
      status: 'ok',
      requests: 7,
      bytes_in: 0,
      bytes_out: 0,
      credits: 9,
      messages: 0,
      latency: '',
      last_minute: 0,
    } as const;
    await store.db
      .insertInto('usage_hour')
      .values([
        { ...row, hour },
        { ...row, hour, status: 'limited', requests: 2 },
        { ...row, hour: hour - 23, method: 'getBalance', requests: 4 },
        { ...row, hour: hour - 24, requests: 100 },
      ])
      .execute();
    const monthStart = Date.UTC(2027, 0, 1) / (24 * HOUR);
    await store.db
      .insertInto('usage_day')
      .values([
        { ...row, day: monthStart },
        { ...row, day: monthStart + 14 },
        { ...row, day: monthStart - 1, credits: 1_000 },
      ])
      .execute();
    const first = await invoke('GET /customers/{customer}/keys', { path, query: { limit: '3' } as never });
    const rest = await invoke('GET /customers/{customer}/keys', {
      path,
      query: { limit: '3', cursor: first.next! } as never,
    });
    expect([first.items.length, rest.items.length, rest.next]).toEqual([3, 2, null]);
    const items = [...first.items, ...rest.items];
    expect(items.map(({ id }) => id)).toEqual(ids.toSorted());
    const used = items.find(({ id }) => id === ids[0])!;
    expect([used.creditsUsed, used.errors24h]).toEqual([18, 2]);
    expect(used.requests24h).toEqual([4, ...Array<number>(22).fill(0), 9]);
    expect(items.filter(({ creditsUsed }) => creditsUsed > 0)).toHaveLength(1);
    const revoked = await invoke('POST /customers/{customer}/keys/revoke', { path, body: { ids } });
    expect(revoked.keys.every(({ state }) => state === 'revoked')).toBe(true);
    expect((await invoke('GET /customers/{customer}/keys', { path })).items).toEqual([]);
  });
});

const addTarget = ({ db }: Store) =>
  db
    .insertInto('notice_target')
    .values({
      ...{ id: 'target', customer_id: 'acme', kind: 'email', shown: 'anna@example.com', sealed: '' },
      ...{
        pepper_version: 1,
        created_by: 'test',
        created_at: 0,
        last_sent_at: null,
        last_problem: null,
        tested_at: 0,
      },
    })
    .execute();

const noticesOf = async ({ db }: Store) =>
  (await db.selectFrom('notice_delivery').select('notice').execute()).map(({ notice }) => JSON.parse(notice));

describeOnBothStores('a leaked key', ({ open }) => {
  const report = (token: string) => [
    { token, type: 'solway_key', url: `https://example.com/file?token=${token}`, source: 'content' },
  ];

  it('is recognized by its full text anywhere, and by nothing less', async () => {
    const { invoke, make } = await startApi(await open());
    const { secret, key } = await make();
    const whose = (text: string) => invoke('POST /keys/whose', { body: { text } }, operator);
    expect(await whose(` ${secret}\n`)).toEqual({ wellFormed: true, matches: true, key });
    const other = generateApiKey('rpc').text;
    expect(await whose(`RPC_KEY="${other}" # once\nurl=https://x.example/?api-key=${secret}&y=1`)).toEqual({
      ...{ wellFormed: true, matches: true, key },
    });
    expect(await whose(`key ${other}.`)).toEqual({ wellFormed: true, matches: false, key: null });
    const mistyped = `${secret.slice(0, -1)}${secret.endsWith('1') ? '2' : '1'}`;
    expect(await whose(mistyped)).toEqual({ wellFormed: false, matches: false, key: null });
    expect(await whose('hello')).toEqual({ wellFormed: false, matches: false, key: null });
    expect((await refusal(invoke('POST /keys/whose', { body: { text: secret } }))).status).toBe(403);
  });

  it('is not marked while no notification can be queued', async () => {
    const store = await open();
    const register = await registerOn(store);
    const { secret } = await createKey(register, { product: 'rpc', name: 'x' });
    const rules = { revokes: true, noteLeak: () => Promise.reject(new Error('the table is full')) };
    await expect(reportLeaks(register, report(secret), rules)).rejects.toThrow('the table is full');
    expect(await store.db.selectFrom('api_key').select(['state', 'leaked_at']).execute()).toEqual([
      { state: 'active', leaked_at: null },
    ]);
  });

  for (const revokeLeaked of [false, true]) {
    it(`is marked${revokeLeaked ? ', revoked' : ''} and notified once after a signed report`, async () => {
      const store = await open();
      const { invoke, make } = await startApi(store, { revokeLeaked });
      await addTarget(store);
      const { secret, key } = await make();
      const body = [...report(secret), ...report('something else')];
      const rawBody = Buffer.from(JSON.stringify(body));
      const headers = {
        'github-public-key-identifier': 'scanner-1',
        'github-public-key-signature': sign('sha256', rawBody, scanner.privateKey).toString('base64'),
      };
      const scan = (sent: Record<string, string>) =>
        invoke('POST /secret-scanning', { body }, { kind: 'anonymous' }, sent, rawBody);
      expect((await refusal(scan({}))).status).toBe(401);
      expect((await refusal(scan({ ...headers, 'github-public-key-identifier': 'x' }))).status).toBe(401);
      expect(await noticesOf(store)).toEqual([]);
      for (let times = 0; times < 2; times++)
        expect((await scan(headers)).map(({ label }) => label)).toEqual(['true_positive', 'false_positive']);
      const state = revokeLeaked ? 'revoked' : 'active';
      expect(await store.db.selectFrom('api_key').select(['id', 'state', 'leaked_at']).execute()).toEqual([
        { id: key.id, state, leaked_at: NOW },
      ]);
      const notices = await noticesOf(store);
      expect(notices).toMatchObject([
        { type: 'key.leaked', customer: { id: 'acme' }, key: { id: key.id, revoked: revokeLeaked } },
      ]);
      const lines = await store.db
        .selectFrom('audit')
        .selectAll()
        .where('action', '=', 'key.leak-report')
        .execute();
      expect(lines).toMatchObject([{ key_id: key.id, customer_id: 'acme', actor: 'secret-scanning' }]);
      expect(JSON.stringify([lines, notices])).not.toContain(secret.slice(21, -6));
    });
  }
});
