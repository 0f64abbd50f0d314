import { expect, it } from 'vitest';
import { openDatabase } from './open.ts';
import { isStoreUnavailable } from './store-unavailable.ts';

it('recognizes an unreachable database', async () => {
  const url = 'postgres://a:b@127.0.0.1:1/none';
  const error = await openDatabase({ url, connectTimeoutMs: 500 }).catch((thrown: unknown) => thrown);
  expect(isStoreUnavailable(error)).toBe(true);
  expect(isStoreUnavailable(new Error('the API fails', { cause: error }))).toBe(true);
});

it('recognizes a server that no longer accepts connections at its Unix socket', () => {
  const error = Object.assign(new Error('connect EAGAIN /run/.s.PGSQL.5432'), { code: 'EAGAIN' });
  expect(isStoreUnavailable(error)).toBe(false);
  expect(isStoreUnavailable(Object.assign(error, { syscall: 'connect' }))).toBe(true);
});

it('recognizes no other error', () => {
  expect(isStoreUnavailable(new TypeError('x is no function'))).toBe(false);
  expect(isStoreUnavailable(Object.assign(new Error('duplicate key'), { code: '23505' }))).toBe(false);
  expect(isStoreUnavailable('ECONNREFUSED')).toBe(false);
});
