import { expect, it } from 'vitest';
import { CallConcurrencyLimiter } from './upstream-calls.ts';

/** A call that ends on demand. */
function held(
  turns: CallConcurrencyLimiter,
  owner: string,
  network: 'mainnet-beta' | 'devnet',
  started: string[],
  name: string,
) {
  const end = Promise.withResolvers<void>();
  const done = turns.run(owner, network, () => {
    started.push(name);
    return end.promise;
  });
  return { end: end.resolve, done };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('gives a key no more places than it may have, and leaves the others to others', async () => {
  const turns = new CallConcurrencyLimiter(3, 2);
  const started: string[] = [];
  const calls = ['a1', 'a2', 'a3', 'a4'].map((name) => held(turns, 'a', 'mainnet-beta', started, name));
  const other = held(turns, 'b', 'mainnet-beta', started, 'b1');
  await settled();
  expect(started).toEqual(['a1', 'a2', 'b1']);
  calls[0]?.end();
  await calls[0]?.done;
  await settled();
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3']);
  for (const { end } of [...calls, other]) end();
  await Promise.all([...calls, other].map(({ done }) => done));
});

it('lets no network wait for another', async () => {
  const turns = new CallConcurrencyLimiter(1, 1);
  const started: string[] = [];
  const slow = held(turns, 'a', 'devnet', started, 'slow');
  const quick = held(turns, 'a', 'mainnet-beta', started, 'quick');
  await settled();
  expect(started).toEqual(['slow', 'quick']);
  slow.end();
  quick.end();
  await Promise.all([slow.done, quick.done]);
});

it('gives places back when calls fail', async () => {
  const turns = new CallConcurrencyLimiter(1, 1);
  const failing = () => turns.run('a', 'devnet', () => Promise.reject(new Error('no')));
  await expect(failing()).rejects.toThrow('no');
  expect(await turns.run('a', 'devnet', async () => 'next')).toBe('next');
});
