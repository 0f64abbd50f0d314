import { Kysely } from 'kysely';
import { expect, it } from 'vitest';
import { openPostgres } from '../../../src/control/database/postgres.ts';
import type { Schema } from '../../../src/control/database/schema.ts';
import { describeOnBothStores } from '../stores.ts';
import { firstOperator, openAccountsFixture } from './accounts-fixture.ts';

const LOGS = '/api/v1/customers/house/logs';

describeOnBothStores('the control API', ({ open }) => {
  it('rejects query numbers that the store cannot compare, naming the field', async () => {
    const operator = await firstOperator(await openAccountsFixture(await open()));
    for (const [field, value] of [
      ['rpcCode', '99999999999'],
      ['rpcCode', '9007199254740991'],
      ['minMs', '1e308'],
      ['minMs', '1e15'],
      ['to', '9007199254740991'],
      ['from', '-1'],
      ['limit', '1e9'],
    ] as const) {
      const { status, json } = await operator.get(`${LOGS}?${field}=${value}`);
      expect([field, status, Object.keys(json.error?.fields ?? {})]).toEqual([field, 422, [field]]);
    }
    for (const query of ['rpcCode=-32005', 'minMs=86400000', 'to=253402300799999'])
      expect([query, (await operator.get(`${LOGS}?${query}`)).status]).toEqual([query, 200]);
  });

  it('rejects out-of-range expiry times of keys and tokens, and overlong texts', async () => {
    const operator = await firstOperator(await openAccountsFixture(await open()));
    const fixture = '/api/v1/customers/house';
    const { key } = (await operator.post(`${fixture}/keys`, { product: 'rpc', name: 'k' })).json;
    const email = `${'a.'.repeat(1_000)}a@example.com`;
    const requested: [string, string, string, object?][] = [
      ['GET', `/api/v1/audit?customer=${'x'.repeat(65)}`, 'customer'],
      ['POST', '/api/v1/operators/invitations', 'email', { email }],
    ];
    for (const expiresAt of [Number.MAX_SAFE_INTEGER, 8_640_000_000_000_001])
      requested.push(
        ['POST', `${fixture}/keys`, 'expiresAt', { product: 'rpc', name: 'x', expiresAt }],
        ['PATCH', `${fixture}/keys/${key.id}`, 'expiresAt', { expiresAt }],
        ['POST', `${fixture}/tokens`, 'expiresAt', { name: 'x', role: 'viewer', expiresAt }],
        ['POST', '/api/v1/tokens', 'expiresAt', { name: 'x', expiresAt }],
      );
    for (const [method, path, field, body] of requested) {
      const { status, json } = await operator.send(method, path, body && { body });
      expect([path, status, Object.keys(json.error?.fields ?? {})]).toEqual([path, 422, [field]]);
    }
    const last = { product: 'rpc', name: 'x', expiresAt: 253_402_300_799_999 };
    expect((await operator.post(`${fixture}/keys`, last)).status).toBe(200);
  });

  it('answers 503 while the store is unreachable, and logs it once', async () => {
    const fixture = await openAccountsFixture(await open());
    const operator = await firstOperator(fixture);
    const away = openAway();
    Object.assign(fixture.services, { store: { ...fixture.services.store, db: away } });
    for (const path of ['/api/v1/customers/house', LOGS]) {
      const { status, json, headers } = await operator.get(path);
      expect([path, status, json.error.code, headers.get('retry-after')]).toEqual([
        ...[path, 503, 'STORE_AWAY', '5'],
      ]);
    }
    expect(fixture.logged.filter((line) => line.includes('Database unreachable'))).toHaveLength(1);
    expect(fixture.logged.join()).not.toContain('Control API request failed');
    await away.destroy();
  });
});

function openAway() {
  const options = { connectionsMax: 1, connectTimeoutMs: 500, queryTimeoutMs: 500, hangsAfterMs: 500 };
  const dialect = openPostgres('postgres://a:b@127.0.0.1:1/none', options, () => undefined);
  return new Kysely<Schema>({ dialect });
}
