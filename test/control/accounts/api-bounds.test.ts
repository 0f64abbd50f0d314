import { expect, it } from 'vitest';
import { describeOnSqlite } from '../stores.ts';
import { firstOperator, openAccountsFixture } from './accounts-fixture.ts';

const LOGS = '/api/v1/customers/house/logs';

describeOnSqlite('the control API', ({ open }) => {
  it('rejects query numbers that the store cannot compare, naming the field', async () => {
    const operator = await firstOperator(await openAccountsFixture(await open()));
    for (const [field, value] of [
      ['rpcCode', '99999999999'],
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
});
