import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, it } from 'vitest';
import type { ApiContext } from '../../../src/control/api/handler.ts';
import { keyHandlers } from '../../../src/control/api/handlers/keys.ts';
import type { ApiServices } from '../../../src/control/api/services.ts';
import type { Store } from '../../../src/control/database/store.ts';
import { createKey } from '../../../src/control/keys/create-key.ts';
import { reportLeaks } from '../../../src/control/keys/leaked-keys.ts';
import { creditsOfCustomers } from '../../../src/control/usage/quotas.ts';
import { generateApiKey } from '../../../src/gateway/auth/api-key.ts';
import {
  type AccountsFixtureOptions,
  type Browser,
  firstOperator,
  joinByInvitation,
  type LooseJson,
  openAccountsFixture,
} from '../accounts/accounts-fixture.ts';
import { registerOn } from '../register.ts';
import { describeOnBothStores, describeOnSqlite } from '../stores.ts';
import { addKeys, rollUpAt, usageRow, write } from '../usage/usage-fixture.ts';

const NOW = Date.UTC(2027, 0, 15, 12, 30);
const MINUTE = 60_000;
const HOUR = 3_600_000;
const context = { caller: { kind: 'local', name: 'test' } } as ApiContext;

async function startApi(store: Store, options: AccountsFixtureOptions = {}) {
  const fixture = await openAccountsFixture(store, options);
  const operator = await firstOperator(fixture);
  const customer: string = (await operator.post('/api/v1/customers', { name: 'Acme' })).json.id;
  const at = (path: string) => `/api/v1/customers/${customer}/keys${path}`;
  const make = (more: object = {}, by: Browser = operator) =>
    by.post(at(''), { product: 'rpc', name: 'x', ...more });
  return { fixture, operator, customer, at, make };
}

describeOnSqlite('the key routes', ({ open }) => {
  it('return the secret even if this gateway fails to apply the change', async () => {
    const { fixture, make } = await startApi(await open());
    Object.assign(fixture.services, { refreshKeys: () => new Promise(() => {}) });
    expect((await make()).json.secret).toMatch(/^svc_rpc_live_/);
  }, 10_000);

  it('issue a playground token to a signed-in user only, for a valid key, and audit it', async () => {
    const { fixture, operator, customer, at, make } = await startApi(await open());
    const { key } = (await make()).json;
    const path = at(`/${key.id}/playground-token`);
    const { token, expiresAt } = (await operator.post(path)).json;
    expect(token.startsWith(`svc_try_${key.id}`)).toBe(true);
    expect(expiresAt).toBe(fixture.clock.now + 5 * MINUTE);
    expect((await operator.post(path)).json.token).toBe(token);
    const { items } = (await operator.get(`/api/v1/customers/${customer}/audit`)).json;
    expect(items[0]).toMatchObject({ action: 'key.playground-token', keyId: key.id });
    expect(items[1]).toMatchObject({ action: 'key.create' });
    fixture.clock.now += MINUTE;
    expect((await operator.post(path)).json.expiresAt).toBe(expiresAt + MINUTE);
    await expect(
      fixture.api.call(
        'POST /customers/{customer}/keys/{key}/playground-token',
        { path: { customer, key: key.id } },
        'x',
      ),
    ).rejects.toMatchObject({ code: 'SESSION_ONLY' });
    await operator.post(at(`/${key.id}/disable`));
    expect((await operator.post(path)).status).toBe(409);
  });

  it('create, show, change, rotate, disable and revoke keys, end overlaps, and audit the source', async () => {
    const { fixture, operator, customer, at, make } = await startApi(await open());
    const { secret, key } = (await make()).json;
    expect(secret.startsWith(key.start)).toBe(true);
    await operator.send('PATCH', at(`/${key.id}`), { body: { methods: ['getSlot'] } });
    const rotated = (await operator.post(at(`/${key.id}/rotate`))).json;
    expect([rotated.key.methods, rotated.old.expiresAt]).toEqual([
      ['getSlot'],
      fixture.clock.now + 24 * HOUR,
    ]);
    const { family } = (await operator.get(at(`/${key.id}`))).json;
    expect(family.map(({ id }: LooseJson) => id).toSorted()).toEqual([key.id, rotated.key.id].toSorted());
    expect((await operator.post(at(`/${key.id}/cut`))).json.state).toBe('expired');
    const states: string[] = [];
    for (const verb of ['disable', 'enable', 'revoke'])
      states.push((await operator.post(at(`/${rotated.key.id}/${verb}`))).json.state);
    expect(states).toEqual(['disabled', 'active', 'revoked']);
    const together = (await operator.post(at('/revoke'), { ids: [rotated.key.id] })).json;
    expect(together.keys).toMatchObject([{ state: 'revoked' }]);
    const audit = fixture.store.db.selectFrom('audit').selectAll().where('key_id', 'is not', null);
    const lines = await audit.execute();
    expect(lines).toHaveLength(8);
    for (const line of lines)
      expect(line).toMatchObject({
        actor: `user:${fixture.email}`,
        customer_id: customer,
        address: '192.0.2.1',
        user_agent: 'test browser',
        request_id: expect.any(String),
      });
    expect(JSON.stringify(lines)).not.toContain(secret.slice(21, -6));
  });

  it('keep a network that the configuration no longer lists, but add no other', async () => {
    const { fixture, operator, at, make } = await startApi(await open());
    const { key } = (await make({ networks: ['staging'] })).json;
    const { service } = fixture.services;
    Object.assign(fixture.services, { service: () => ({ ...service(), networks: ['devnet'] }) });
    const change = async (...networks: string[]) => {
      const { status, json } = await operator.send('PATCH', at(`/${key.id}`), { body: { networks } });
      return [status, json.networks ?? json.error.fields];
    };
    expect(await change('staging', 'devnet')).toEqual([200, ['staging', 'devnet']]);
    expect(await change('staging', 'testnet')).toEqual([422, { networks: 'must be one of devnet' }]);
    expect(await change('devnet')).toEqual([200, ['devnet']]);
    expect((await change('staging'))[0]).toBe(422);
  });

  it('reject invalid requests with status, code and field', async () => {
    const { fixture, operator, customer, at, make } = await startApi(await open());
    Object.assign(fixture.services.keys, { customerKeysMax: 1 });
    const admin = await joinByInvitation(fixture, operator, customer, 'admin@example.com', 'admin');
    const viewer = await joinByInvitation(fixture, operator, customer, 'viewer@example.com', 'viewer');
    const gold = await make({ planId: 'gold' }, admin);
    expect([gold.status, Object.keys(gold.json.error.fields)]).toEqual([403, ['planId']]);
    expect((await make({ planId: 'rehearsal' })).json.error.code).toBe('INVALID_FIELDS');
    for (const [fields, text] of [
      [{ name: ' ' }, 'must have 1 to 64 printable characters'],
      [{ networks: [] }, 'must not be empty'],
      [{ networks: ['staging', 'other'] }, 'must be one of mainnet-beta, devnet, testnet, staging'],
      [{ cidrs: Array(101).fill('192.0.2.1') }, 'must have at most 100 items'],
      [{ addressPerSecond: 1_000_001 }, 'must be at most 1,000,000'],
      [{ addressPerSecond: 1.5 }, 'must be a whole number'],
      [{ isPublic: 'yes' }, 'must be of type boolean'],
    ] as const)
      expect((await make(fields)).json.error.fields).toEqual({ [Object.keys(fields)[0] ?? '']: text });
    expect((await make({}, viewer)).status).toBe(403);
    const { key } = (await make()).json;
    const late = await operator.post(at(`/${key.id}/rotate`), { overlapMs: 91 * 24 * HOUR });
    expect([late.status, Object.keys(late.json.error.fields)]).toEqual([422, ['overlapMs']]);
    const full = await make();
    expect([full.status, full.json.error.code]).toEqual([409, 'LIMIT']);
    const cut = await operator.post(at(`/${key.id}/cut`));
    expect([cut.status, cut.json.error.code]).toEqual([409, 'WRONG_STATE']);
    expect((await operator.get(`/api/v1/customers/house/keys/${key.id}`)).status).toBe(404);
    expect((await admin.post(`/api/v1/customers/house/keys/${key.id}/revoke`)).status).toBe(404);
  });
});

describeOnBothStores('the list of keys', ({ open }) => {
  it('is paginated, and shows recent activity', async () => {
    const store = await open();
    const ids = ['AAAAAAAA', 'BBBBBBBB', 'CCCCCCCC', 'DDDDDDDD', 'EEEEEEEE'];
    await addKeys(store, 'acme', Object.fromEntries(ids.map((id) => [id, 'default'])));
    const minute = NOW / MINUTE;
    const monthStart = Date.UTC(2027, 0, 1) / MINUTE;
    await write(store, [
      usageRow({ minute, requests: 7 }),
      usageRow({ minute, requests: 2, status: 'limited', credits: 0 }),
      usageRow({ minute: minute - 23 * 60, method: 'getBalance', requests: 4 }),
      usageRow({ minute: minute - 24 * 60, requests: 100, credits: 0 }),
      usageRow({ minute: monthStart, credits: 5 }),
      usageRow({ minute: monthStart - 1, credits: 1_000 }),
    ]);
    await rollUpAt(store, NOW + HOUR);
    const list = keyHandlers({ store, now: () => NOW, keys: { scannerKeys: [] } } as unknown as ApiServices)[
      'GET /customers/{customer}/keys'
    ];
    const page = (query: object) =>
      list({ path: { customer: 'acme' }, query: query as never, body: null }, context);
    const first = await page({ limit: 3 });
    const rest = await page({ limit: 3, cursor: first.next });
    const items = [...first.items, ...rest.items];
    expect([first.items.length, items.map(({ id }) => id), rest.next]).toEqual([3, ids, null]);
    expect(items[0]).toMatchObject({ creditsUsed: 27, errors24h: 2 });
    expect(items[0]?.requests24h).toEqual([4, ...Array<number>(22).fill(0), 9]);
    expect(items.filter(({ creditsUsed }) => creditsUsed > 0)).toHaveLength(1);
    expect(await creditsOfCustomers(store, ['acme', 'other'], NOW)).toEqual(new Map([['acme', 27]]));
  });
});

describeOnBothStores('the list of keys', ({ open }) => {
  it('is searched, filtered and sorted by the service', async () => {
    const { fixture, operator, at, make } = await startApi(await open());
    const ids = new Map<string, string>();
    for (const name of ['web shop', 'Web_2', 'indexer', 'WEB 3', 'bot'])
      ids.set(name, (await make({ name, expiresAt: fixture.clock.now + HOUR })).json.key.id);
    const idOf = (name: string) => ids.get(name) as string;
    const list = async (query: object) =>
      (await operator.get(at(`?${new URLSearchParams(query as Record<string, string>)}`))).json;
    const names = async (query: object) => (await list(query)).items.map((one: LooseJson) => one.name);
    const byName = ['bot', 'indexer', 'WEB 3', 'web shop', 'Web_2'];
    const sorted = await names({ sort: 'name' });
    // The databases sort punctuation differently.
    expect([sorted.slice(0, 2), sorted.toSorted()]).toEqual([byName.slice(0, 2), byName.toSorted()]);
    expect(await names({ sort: '-name' })).toEqual(sorted.toReversed());
    const pages: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await list({ sort: '-name', limit: 2, ...(cursor !== undefined && { cursor }) });
      pages.push(...page.items.map((one: LooseJson) => one.name));
      cursor = page.next;
    }
    expect(pages).toEqual(sorted.toReversed());
    expect(await names({ search: 'web', sort: 'name', limit: 2 })).toEqual(
      sorted.filter((name: string) => /web/i.test(name)).slice(0, 2),
    );
    expect(await names({ search: 'B_2' })).toEqual(['Web_2']);
    for (const search of [idOf('bot'), idOf('bot').slice(0, 5), `svc_rpc_live_${idOf('bot')}`])
      expect(await names({ search })).toContain('bot');
    await operator.post(at(`/${idOf('bot')}/disable`));
    await operator.post(at(`/${idOf('indexer')}/revoke`));
    expect(await names({ state: 'disabled' })).toEqual(['bot']);
    expect(await names({ state: 'revoked' })).toEqual(['indexer']);
    fixture.clock.now += HOUR;
    expect([await names({ state: 'active' }), (await names({ state: 'expired' })).length]).toEqual([[], 3]);
    await fixture.store.db
      .updateTable('api_key')
      .set({ last_used_at: 5 })
      .where('id', '=', idOf('bot'))
      .execute();
    expect((await names({ sort: '-lastUsedAt' }))[0]).toBe('bot');
  });
});

describeOnBothStores('a leaked key', ({ open }) => {
  const report = (token: string) => [
    { token, type: 'solway_key', url: `https://example.com/file?token=${token}`, source: 'content' },
  ];

  it('is detected by its full text only, at any position', async () => {
    const { fixture, operator, make } = await startApi(await open());
    const { secret, key } = (await make()).json;
    const whose = async (text: string) => (await operator.post('/api/v1/keys/whose', { text })).json;
    expect(await whose(` ${secret}\n`)).toEqual({ wellFormed: true, matches: true, key });
    const other = generateApiKey('rpc').text;
    expect(await whose(`RPC_KEY="${other}" # once\nurl=https://x.example/?api-key=${secret}&y=1`)).toEqual({
      ...{ wellFormed: true, matches: true, key },
    });
    expect(await whose(`key ${other}.`)).toEqual({ wellFormed: true, matches: false, key: null });
    const mistyped = `${secret.slice(0, -1)}${secret.endsWith('1') ? '2' : '1'}`;
    expect(await whose(mistyped)).toEqual({ wellFormed: false, matches: false, key: null });
    expect((await fixture.browser().post('/api/v1/keys/whose', { text: secret })).status).toBe(401);
  });

  it('is not marked as leaked while no notification can be queued', async () => {
    const store = await open();
    const register = await registerOn(store);
    const { secret } = await createKey(register, { product: 'rpc', name: 'x' });
    const rules = { revokes: true, noteLeak: () => Promise.reject(new Error('the table is full')) };
    await expect(reportLeaks(register, report(secret), rules)).rejects.toThrow('the table is full');
    expect(await store.db.selectFrom('api_key').select(['state', 'leaked_at']).execute()).toEqual([
      { state: 'active', leaked_at: null },
    ]);
  });

  it.each([false, true])(
    'is marked as leaked and notified once after a signed report (revoked: %s)',
    async (revokes) => {
      const store = await open();
      const scanner = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const pem = scanner.publicKey.export({ type: 'spki', format: 'pem' }).toString();
      const { fixture, operator, customer, make } = await startApi(store, {
        scannerKeys: [{ id: 'one', pem }],
      });
      Object.assign(fixture.services.keys, { revokeLeaked: revokes });
      const target = { kind: 'email', to: 'anna@example.com' };
      await operator.post(`/api/v1/customers/${customer}/notices`, target);
      const { secret, key } = (await make()).json;
      const body = JSON.stringify([...report(secret), ...report('something else')]);
      const signature = sign('sha256', Buffer.from(body), scanner.privateKey).toString('base64');
      const scan = (id: string, text: string) =>
        fixture.browser().post('/api/v1/secret-scanning', text, {
          headers: { 'github-public-key-identifier': id, 'github-public-key-signature': signature },
        });
      expect([(await scan('two', body)).status, (await scan('one', `${body} `)).status]).toEqual([401, 401]);
      for (let times = 0; times < 2; times++)
        expect((await scan('one', body)).json.map(({ label }: LooseJson) => label)).toEqual([
          ...['true_positive', 'false_positive'],
        ]);
      expect(await store.db.selectFrom('api_key').select(['id', 'state', 'leaked_at']).execute()).toEqual([
        { id: key.id, state: revokes ? 'revoked' : 'active', leaked_at: fixture.clock.now },
      ]);
      const notices = await store.db.selectFrom('notice_delivery').select('notice').execute();
      expect(notices.map(({ notice }) => JSON.parse(notice))).toMatchObject([
        { type: 'key.leaked', customer: { id: customer }, key: { id: key.id, revoked: revokes } },
      ]);
      const audit = store.db.selectFrom('audit').selectAll().where('action', '=', 'key.leak-report');
      const lines = await audit.execute();
      expect(lines).toMatchObject([{ key_id: key.id, customer_id: customer, actor: 'secret-scanning' }]);
      expect(JSON.stringify([lines, notices])).not.toContain(secret.slice(21, -6));
    },
  );
});
