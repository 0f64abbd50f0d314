import { describe, expect, it } from 'vitest';
import { DoorCounters, latencyBounds } from './door-counters.ts';

const request = { product: 'rpc', status: 'ok', bytesIn: 10, bytesOut: 20 } as const;

describe('the totals of the doors', () => {
  it('count each key up to a number, and all others together', () => {
    const counters = new DoorCounters({ keysMax: 2 });
    for (const key of ['a', 'b', 'c', 'd', 'a', null]) counters.count(key, request, 0.001);
    expect([...counters.keys].map(([key, { ok }]) => [key, ok])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    expect(counters.otherKeys.ok).toBe(3);
    counters.countMessages('a', 'rpc', 5, 500);
    expect(counters.keys.get('a')).toMatchObject({ ok: 2, failed: 0, messages: 5, bytesOut: 540 });
  });

  it('let a key that is used no more make room for another, and count what it had with the others', () => {
    let now = 0;
    const counters = new DoorCounters({ keysMax: 2, idleMs: 600_000, now: () => now });
    const shown = () => [...counters.keys].map(([key, { ok }]) => `${key} ${ok}`);
    for (const key of ['a', 'b', 'b', 'c']) counters.count(key, request, 0.001);
    counters.countMessages('b', 'rpc', 5, 500);
    now = 599_999;
    for (const key of ['a', 'c']) counters.count(key, request, 0.001);
    expect([shown(), counters.otherKeys.ok]).toEqual([['a 2', 'b 2'], 2]);
    now = 620_000;
    for (const key of ['c', 'd', 'c']) counters.count(key, request, 0.001);
    expect(shown()).toEqual(['a 2', 'c 2']);
    // Two of c before it was counted for itself, two of b, one of d.
    expect(counters.otherKeys).toEqual({ ok: 5, failed: 0, messages: 5, bytesOut: 600 });
  });

  it('put each latency into the first bucket that it does not exceed', () => {
    const counters = new DoorCounters();
    for (const seconds of [...latencyBounds, 11]) counters.count(null, request, seconds);
    expect([...counters.products.rpc.latency]).toEqual(new Array(latencyBounds.length + 1).fill(1));
    counters.count(null, { ...request, status: 'upstream' }, 0);
    expect(counters.products.rpc.requests).toMatchObject({ ok: 8, upstream: 1 });
    expect(counters.products.grpc.bytesIn).toBe(0);
  });
});
