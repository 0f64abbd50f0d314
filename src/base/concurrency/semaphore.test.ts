import { describe, expect, it } from 'vitest';
import { Semaphore } from './semaphore.ts';

describe('semaphore', () => {
  it('runs at most as many tasks as permits, in FIFO order', async () => {
    const turnstile = new Semaphore(2);
    const begun: number[] = [];
    const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
    const done = gates.map((gate, n) =>
      turnstile.run(async () => {
        begun.push(n);
        await gate.promise;
        return n;
      }),
    );
    expect(begun).toEqual([0, 1]);
    gates[1]?.resolve();
    await done[1];
    expect(begun).toEqual([0, 1, 2]);
    for (const gate of gates) gate.resolve();
    expect(await Promise.all(done)).toEqual([0, 1, 2, 3]);
  });

  it('passes the permit of a failed task on', async () => {
    const turnstile = new Semaphore(1);
    const failed = turnstile.run(() => Promise.reject(new Error('no')));
    const next = turnstile.run(() => Promise.resolve('yes'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });
});
