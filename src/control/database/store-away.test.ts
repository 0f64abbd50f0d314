import { expect, it } from 'vitest';
import { openDatabase } from './open.ts';
import { isStoreAway } from './store-away.ts';

it('knows a database that nobody answers for', async () => {
  const url = 'postgres://a:b@127.0.0.1:1/none';
  const error = await openDatabase({ url, connectTimeoutMs: 500 }).catch((thrown: unknown) => thrown);
  expect(isStoreAway(error)).toBe(true);
  expect(isStoreAway(new Error('the API fails', { cause: error }))).toBe(true);
});

it('takes nothing else for it', () => {
  expect(isStoreAway(new TypeError('x is no function'))).toBe(false);
  expect(isStoreAway(Object.assign(new Error('duplicate key'), { code: '23505' }))).toBe(false);
  expect(isStoreAway('ECONNREFUSED')).toBe(false);
});
