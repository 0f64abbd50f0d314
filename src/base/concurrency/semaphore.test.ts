import { describe, expect, it } from 'vitest';
import { Semaphore } from './semaphore.ts';

describe('semaphore', () => {
  it('runs at most as many tasks as permits, in FIFO order', async () => {
    const semaphore = new Semaphore(2);
    const started: number[] = [];
    const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
    const done = gates.map((gate, n) =>
      semaphore.run(async () => {
        started.push(n);
        await gate.promise;
        return n;
      }),
    );
    expect(started).toEqual([0, 1]);
    gates[1]?.resolve();
    await done[1];
    expect(started).toEqual([0, 1, 2]);
    for (const gate of gates) gate.resolve();
    expect(await Promise.all(done)).toEqual([0, 1, 2, 3]);
  });

  it('passes the permit of a failed task on', async () => {
    const semaphore = new Semaphore(1);
    const failed = semaphore.run(() => Promise.reject(new Error('no')));
    const next = semaphore.run(() => Promise.resolve('yes'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });
});
