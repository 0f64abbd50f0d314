import { beforeEach, expect, it } from 'vitest';
import type { OpenOptions } from '../../../src/control/database/open.ts';
import { describeOnSqlite } from '../stores.ts';
import {
  type AccountsFixture,
  type Browser,
  firstOperator,
  joinByInvitation,
  openAccountsFixture,
  PASSWORD,
} from './accounts-fixture.ts';

const foreign: readonly [string, Record<string, string | null>][] = [
  ['a page of another origin', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['a form, which can add no header', { 'x-solway': null }],
];

const paths = [
  '/api/v1/customers/house/../house/tokens',
  '/api/v1/%63ustomers',
  '/api/v1//customers',
  '/api/v1/customers%2fhouse%2ftokens',
  '/api/v1/customers/ｈouse/tokens',
  '/api/auth/%2e%2e/v1/customers',
  '/api/auth/../v1/customers',
];

/** Paths of the sign-in library that must not be exposed, and properties of Object.prototype. */
const hiddenPaths = [
  ['/error', 'GET'],
  ['/delete-user', 'POST'],
  ['/change-email', 'POST'],
  ['/sign-in/social', 'POST'],
  ['/constructor', 'GET'],
  ['/__proto__', 'POST'],
] as const;

const bodies = [
  ['text that is no JSON', '{"name":', 422],
  ['a character that no column holds', '{"name":"a\\u0000b"}', 422],
  ['a body of 300 KB', `{"name":"${'x'.repeat(300_000)}"}`, 413],
  ['100,000 open lists', '['.repeat(100_000), 422],
] as const;

describeOnSqlite('an attack', ({ open, migrated }) => {
  let database: Promise<OpenOptions> | null = null;
  let fixture: AccountsFixture;
  let operator: Browser;
  let viewer: Browser;

  beforeEach(async () => {
    database ??= migrated();
    fixture = await openAccountsFixture(await open(await database));
    operator = await firstOperator(fixture);
    viewer = await joinByInvitation(fixture, operator, 'house', `viewer-${fixture.email}`, 'viewer');
  });

  it("from another site or program cannot change anything with a user's cookie", async () => {
    const { token } = (await operator.post('/api/v1/tokens', { name: 'ci' })).json;
    for (const [name, headers] of foreign) {
      const make = await operator.post('/api/v1/customers', { name: 'Theirs' }, { headers });
      expect([name, make.status, make.json.error.code]).toEqual([name, 403, 'FOREIGN_ORIGIN']);
      const changes = [
        await operator.send('PATCH', '/api/v1/customers/house', { body: { name: 'Theirs' }, headers }),
        await operator.send('DELETE', `/api/v1/tokens/${token.id}`, { headers }),
      ];
      expect([name, ...changes.map(({ json }) => json.error?.code)]).toEqual([
        name,
        'FOREIGN_ORIGIN',
        'FOREIGN_ORIGIN',
      ]);
      expect([name, (await operator.post('/api/auth/sign-out', {}, { headers })).status]).toEqual([
        name,
        403,
      ]);
      const log = { email: fixture.email, password: PASSWORD };
      const entry = await fixture.browser().post('/api/auth/sign-in/email', log, { headers });
      expect([name, entry.status]).toEqual([name, 403]);
    }
    expect((await operator.get('/api/v1/customers')).status).toBe(200);
  });

  it('with an ambiguous path does not bypass authorization', async () => {
    for (const path of paths) {
      const { status, text } = await viewer.get(path);
      expect([path, [403, 404].includes(status)]).toEqual([path, true]);
      expect(text).not.toContain('svc_admin_live_');
    }
  });

  it('reaches only the allowed paths of the sign-in library', async () => {
    for (const [path, method] of hiddenPaths) {
      const sent = method === 'POST' ? { body: {} } : {};
      const { status, json } = await operator.send(method, `/api/auth${path}`, sent);
      expect([path, status, json.error.code]).toEqual([path, 404, 'NO_SUCH_ROUTE']);
    }
  });

  it('with extra fields grants no rights', async () => {
    const more = [{ isOperator: true }, { role: 'owner' }, { emailVerified: true }, { id: 'root' }];
    for (const fields of more) {
      const update = await viewer.post('/api/auth/update-user', { name: 'Vera', ...fields });
      expect([update.status, update.json.error.code]).toEqual([422, 'INVALID_FIELDS']);
    }
    const token = await fixture.inviteOperator();
    const signUp = {
      name: 'x',
      email: 'x@example.com',
      password: PASSWORD,
      invitation: token,
      isOperator: true,
    };
    expect((await fixture.browser().post('/api/auth/sign-up/email', signUp)).status).toBe(422);
    expect((await viewer.get('/api/v1/me')).json.user).toMatchObject({ isOperator: false });
    expect((await viewer.get('/api/v1/customers')).status).toBe(403);
  });

  it.each([
    ['__proto__', '{"name":"x","__proto__":{"planId":"default"}}'],
    ['constructor', '{"name":"x","constructor":{"prototype":{"isOperator":true}}}'],
  ])('with %s in the body is rejected, naming the field', async (field, body) => {
    const { status, json } = await operator.post('/api/v1/customers', body);
    expect([status, Object.keys(json.error.fields)]).toEqual([422, [field]]);
    expect(({} as { isOperator?: boolean }).isOperator).toBeUndefined();
  });

  it('with an invalid body is rejected', async () => {
    for (const [name, body, status] of bodies) {
      expect([name, (await operator.post('/api/v1/customers', body)).status]).toEqual([name, status]);
      expect([name, (await operator.post('/api/auth/sign-in/email', body)).status]).toEqual([name, status]);
    }
  });

  it('with another content type, a repeated field or values of the wrong type is rejected', async () => {
    const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    expect((await operator.post('/api/v1/customers', 'name=x', form)).status).toBe(415);
    expect((await operator.post('/api/auth/sign-in/email', 'email=x', form)).status).toBe(415);
    expect((await operator.get('/api/v1/audit?limit=1&limit=2')).status).toBe(422);
    expect((await operator.get('/api/v1/audit?limit=0')).status).toBe(422);
    expect((await operator.get('/api/v1/audit?nothing=1')).status).toBe(422);
    expect((await operator.get('/api/v1/me?a=1')).status).toBe(422);
    expect((await operator.get('/api/v1/audit?action=%00')).status).toBe(422);
    for (const cursor of [
      'x',
      'W10',
      Buffer.from('[1e400]').toString('base64url'),
      Buffer.from('["1"]').toString('base64url'),
    ])
      expect((await operator.get(`/api/v1/audit?cursor=${cursor}`)).status).toBe(422);
    const logs = '/api/v1/customers/house/logs';
    for (const query of ['rpcCode=99999999999', 'minMs=1e15', 'to=9007199254740991', 'from=-1', 'limit=1e9'])
      expect([query, (await operator.get(`${logs}?${query}`)).status]).toEqual([query, 422]);
    for (const query of ['rpcCode=-32005', 'minMs=86400000', 'to=253402300799999'])
      expect([query, (await operator.get(`${logs}?${query}`)).status]).toEqual([query, 200]);
    const kinds = [
      { email: { $ne: null }, password: PASSWORD },
      { email: fixture.email, password: ['x'] },
      { email: 7 },
    ];
    for (const body of kinds)
      expect([400, 401, 422]).toContain((await viewer.post('/api/auth/sign-in/email', body)).status);
  });

  it('gets an error response without internal details', async () => {
    const { headers, json } = await fixture.browser().get('/api/v1/customers');
    expect(json.error.requestId).toBe(headers.get('x-request-id'));
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    await fixture.store.db.schema.alterTable('customer').renameTo('customer_away').execute();
    const broken = await operator.get('/api/v1/customers').finally(() =>
      fixture.store.db.schema
        .alterTable('customer_away' as 'customer')
        .renameTo('customer')
        .execute(),
    );
    expect([broken.status, broken.json.error.code]).toEqual([500, 'INTERNAL']);
    expect(broken.text).not.toMatch(/customer_away|no such table|relation|sql/i);
    expect(fixture.logged.join('')).toContain(broken.json.error.requestId);
  });
});
