import { describe, expect, it } from 'vitest';
import { PerKeySemaphore, type PerKeySemaphoreLimits } from './per-key-semaphore.ts';

const semaphoreOf = (change: Partial<PerKeySemaphoreLimits> = {}): PerKeySemaphore =>
  new PerKeySemaphore({
    ...{ permitsMax: 3, keyPermitsMax: 2, waitingMax: 100, keyWaitingMax: 100, waitMs: null },
    ...change,
  });

/** Acquires permits for the owners named by the first letters, and records which were granted. */
function acquireAll(semaphore: PerKeySemaphore, names: readonly string[]): string[] {
  const given: string[] = [];
  for (const name of names) {
    void semaphore.acquire(name[0] ?? '').then((isGiven) => given.push(isGiven ? name : `${name} not`));
  }
  return given;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('per-key semaphore', () => {
  it('grants permits in FIFO order within the limits', async () => {
    const semaphore = semaphoreOf();
    const given = acquireAll(semaphore, ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
    await settled();
    expect([given, semaphore.inUse]).toEqual([['a1', 'a2', 'b1'], 3]);
    for (const owner of ['b', 'a', 'a']) semaphore.release(owner);
    await settled();
    expect([given, semaphore.inUse]).toEqual([['a1', 'a2', 'b1', 'b2', 'a3', 'c1'], 3]);
    for (const owner of ['a', 'b', 'c']) semaphore.release(owner);
    expect(semaphore.inUse).toBe(0);
    expect(() => semaphore.release('a')).toThrow('permit released twice');
  });

  it('serves waiting keys round-robin', async () => {
    const semaphore = semaphoreOf({ permitsMax: 1 });
    const given = acquireAll(semaphore, ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']);
    for (const owner of ['a', 'a', 'b', 'c', 'a', 'b', 'a']) {
      await settled();
      semaphore.release(owner);
    }
    expect(given).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
    expect(semaphore.inUse).toBe(0);
  });

  it('limits waiters in all and per key', async () => {
    const semaphore = semaphoreOf({ permitsMax: 1, waitingMax: 3, keyWaitingMax: 2 });
    const given = acquireAll(semaphore, ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']);
    await settled();
    expect(given).toEqual(['a1', 'a4 not', 'c1 not']);
    semaphore.release('a');
    await settled();
    expect(given.at(-1)).toBe('a2');
    expect(acquireAll(semaphore, ['a5', 'b2'])).toEqual([]);
    await settled();
    semaphore.release('a');
    await settled();
    expect(given.at(-1)).toBe('b1');
  });

  it('ends a wait on timeout and on abort', async () => {
    const semaphore = semaphoreOf({ permitsMax: 1, waitMs: 20 });
    expect(await semaphore.acquire('a')).toBe(true);
    expect(await semaphore.acquire('a')).toBe(false);
    const leaving = new AbortController();
    const waiting = semaphore.acquire('a', leaving.signal);
    leaving.abort();
    expect(await waiting).toBe(false);
    expect(await semaphore.acquire('a', leaving.signal)).toBe(false);
    semaphore.release('a');
    expect([semaphore.inUse, await semaphore.acquire('b')]).toEqual([0, true]);
  });
});
