import { describe, expect, it } from 'vitest';
import { HostQueues, type HostSlot } from './host-queues.ts';
import { offChainLimits } from './limits.ts';

const never = new AbortController().signal;

function lanesWith(limits: Partial<typeof offChainLimits>) {
  const clock = { now: 0 };
  return { clock, lanes: new HostQueues({ ...offChainLimits, ...limits }, () => clock.now) };
}

async function now<T>(promise: Promise<T>): Promise<T | 'waits'> {
  await null;
  return Promise.race([promise, Promise.resolve('waits' as const)]);
}

async function placeOf(promise: Promise<HostSlot | null>): Promise<HostSlot> {
  const place = await now(promise);
  if (place === null || place === 'waits') throw new Error(`no place: ${place}`);
  return place;
}

describe('HostQueues', () => {
  it('grants fewer permits to unproven hosts', async () => {
    const { lanes } = lanesWith({ unprovenPerHostMax: 1, perHostMax: 3 });
    const first = await placeOf(lanes.acquire('a', never));
    const others = [1, 2, 3].map(() => lanes.acquire('a', never));
    expect(await now(others[0]!)).toBe('waits');
    first.release('success');
    for (const other of others) await placeOf(other);
    expect(await now(lanes.acquire('a', never))).toBe('waits');
    expect([lanes.active, lanes.waiting]).toEqual([3, 1]);
  });

  it('serves hosts round-robin', async () => {
    const { lanes } = lanesWith({ inFlightMax: 1, unprovenPerHostMax: 1 });
    const order: string[] = [];
    const enter = (host: string) =>
      lanes.acquire(host, never).then((place) => {
        order.push(host);
        place?.release('success');
      });
    const first = await placeOf(lanes.acquire('z', never));
    const all = ['a', 'a', 'a', 'b', 'c', 'b'].map(enter);
    first.release('success');
    await Promise.all(all);
    expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('rejects requests beyond the queue limits', async () => {
    const { lanes } = lanesWith({ unprovenPerHostMax: 1, unprovenPerHostQueueMax: 2, queueMax: 3 });
    for (const host of ['a', 'b', 'c']) await placeOf(lanes.acquire(host, never));
    const waiting = [lanes.acquire('a', never), lanes.acquire('a', never)];
    expect(await now(lanes.acquire('a', never))).toBeNull();
    expect(await now(lanes.acquire('b', never))).toBe('waits');
    expect(await now(lanes.acquire('c', never))).toBeNull();
    expect(await now(waiting[0]!)).toBe('waits');
    expect(await now(lanes.acquire('d', never))).not.toBe('waits');
  });

  it('opens the circuit of a failing host and rejects its waiters', async () => {
    const { lanes, clock } = lanesWith({
      unprovenPerHostMax: 1,
      circuitFailuresMax: 2,
      circuitOpenMs: 100,
    });
    const first = await placeOf(lanes.acquire('a', never));
    const waiting = [1, 2, 3].map(() => lanes.acquire('a', never));
    first.release('failure');
    (await placeOf(waiting[0]!)).release('failure');
    expect([await waiting[1], await waiting[2]]).toEqual([null, null]);
    expect(await now(lanes.acquire('a', never))).toBeNull();
    expect([lanes.active, lanes.waiting]).toEqual([0, 0]);
    clock.now = 100;
    const trial = await placeOf(lanes.acquire('a', never));
    expect(await now(lanes.acquire('a', never))).toBeNull();
    trial.release('success');
    await placeOf(lanes.acquire('a', never));
  });

  it('releases the slot of an aborted waiter', async () => {
    const { lanes } = lanesWith({ unprovenPerHostMax: 1, unprovenPerHostQueueMax: 1 });
    const first = await placeOf(lanes.acquire('a', never));
    const leaver = new AbortController();
    const left = lanes.acquire('a', leaver.signal);
    leaver.abort();
    expect(await left).toBeNull();
    expect(lanes.waiting).toBe(0);
    expect(await lanes.acquire('a', leaver.signal)).toBeNull();
    const second = lanes.acquire('a', never);
    first.release('success');
    first.release('success');
    await placeOf(second);
    expect(lanes.active).toBe(1);
  });
});
