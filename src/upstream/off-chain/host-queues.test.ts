import { describe, expect, it } from 'vitest';
import { HostQueues, type HostSlot } from './host-queues.ts';
import { offChainLimits } from './limits.ts';

const never = new AbortController().signal;

function queuesWith(limits: Partial<typeof offChainLimits>) {
  const clock = { now: 0 };
  return { clock, queues: new HostQueues({ ...offChainLimits, ...limits }, () => clock.now) };
}

async function now<T>(promise: Promise<T>): Promise<T | 'waits'> {
  await null;
  return Promise.race([promise, Promise.resolve('waits' as const)]);
}

async function grantedSlot(promise: Promise<HostSlot | null>): Promise<HostSlot> {
  const hostSlot = await now(promise);
  if (hostSlot === null || hostSlot === 'waits') throw new Error(`no place: ${hostSlot}`);
  return hostSlot;
}

describe('HostQueues', () => {
  it('grants fewer permits to unproven hosts', async () => {
    const { queues } = queuesWith({ unprovenPerHostMax: 1, perHostMax: 3 });
    const first = await grantedSlot(queues.acquire('a', never));
    const others = [1, 2, 3].map(() => queues.acquire('a', never));
    expect(await now(others[0]!)).toBe('waits');
    first.release('success');
    for (const other of others) await grantedSlot(other);
    expect(await now(queues.acquire('a', never))).toBe('waits');
    expect([queues.active, queues.waiting]).toEqual([3, 1]);
  });

  it('serves hosts round-robin', async () => {
    const { queues } = queuesWith({ inFlightMax: 1, unprovenPerHostMax: 1 });
    const order: string[] = [];
    const enter = (host: string) =>
      queues.acquire(host, never).then((hostSlot) => {
        order.push(host);
        hostSlot?.release('success');
      });
    const first = await grantedSlot(queues.acquire('z', never));
    const all = ['a', 'a', 'a', 'b', 'c', 'b'].map(enter);
    first.release('success');
    await Promise.all(all);
    expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('rejects requests beyond the queue limits', async () => {
    const { queues } = queuesWith({ unprovenPerHostMax: 1, unprovenPerHostQueueMax: 2, queueMax: 3 });
    for (const host of ['a', 'b', 'c']) await grantedSlot(queues.acquire(host, never));
    const waiting = [queues.acquire('a', never), queues.acquire('a', never)];
    expect(await now(queues.acquire('a', never))).toBeNull();
    expect(await now(queues.acquire('b', never))).toBe('waits');
    expect(await now(queues.acquire('c', never))).toBeNull();
    expect(await now(waiting[0]!)).toBe('waits');
    expect(await now(queues.acquire('d', never))).not.toBe('waits');
  });

  it('opens the circuit of a failing host and rejects its waiters', async () => {
    const { queues, clock } = queuesWith({
      unprovenPerHostMax: 1,
      circuitFailuresMax: 2,
      circuitOpenMs: 100,
    });
    const first = await grantedSlot(queues.acquire('a', never));
    const waiting = [1, 2, 3].map(() => queues.acquire('a', never));
    first.release('failure');
    (await grantedSlot(waiting[0]!)).release('failure');
    expect([await waiting[1], await waiting[2]]).toEqual([null, null]);
    expect(await now(queues.acquire('a', never))).toBeNull();
    expect([queues.active, queues.waiting]).toEqual([0, 0]);
    clock.now = 100;
    const trial = await grantedSlot(queues.acquire('a', never));
    expect(await now(queues.acquire('a', never))).toBeNull();
    trial.release('success');
    await grantedSlot(queues.acquire('a', never));
  });

  it('releases the slot of an aborted waiter', async () => {
    const { queues } = queuesWith({ unprovenPerHostMax: 1, unprovenPerHostQueueMax: 1 });
    const first = await grantedSlot(queues.acquire('a', never));
    const aborter = new AbortController();
    const left = queues.acquire('a', aborter.signal);
    aborter.abort();
    expect(await left).toBeNull();
    expect(queues.waiting).toBe(0);
    expect(await queues.acquire('a', aborter.signal)).toBeNull();
    const second = queues.acquire('a', never);
    first.release('success');
    first.release('success');
    await grantedSlot(second);
    expect(queues.active).toBe(1);
  });
});
