import { describe, expect, it } from 'vitest';
import type { KeyId } from '../auth/key-record.ts';
import { KeyState } from '../auth/key-state.ts';
import { type CountedKey, latencyBoundsSeconds, RequestCounters } from './request-counters.ts';

const request = { product: 'rpc', method: 'getSlot', status: 'ok', bytesIn: 10, bytesOut: 20 } as const;

type KeysById = (id: string | null) => CountedKey | null;

const withoutState: KeysById = (id) => (id === null ? null : { id: id as KeyId });

/** Keys as the directory returns them, with one state object per key. */
function withState(): KeysById {
  const keys = new Map<string, CountedKey>();
  return (id) => {
    if (id === null) return null;
    const key = keys.get(id) ?? { id: id as KeyId, keyState: new KeyState() };
    keys.set(id, key);
    return key;
  };
}

describe.each([
  ['keys without state', () => withoutState],
  ['keys with state', withState],
])('request counters, %s', (_name, create) => {
  it('count up to keysMax keys individually, and the others together', () => {
    const keys = create();
    const counters = new RequestCounters({ keysMax: 2 });
    for (const key of ['a', 'b', 'c', 'd', 'a', null]) counters.count(keys(key), request, 0.001);
    expect([...counters.keys].map(([key, { ok }]) => [key, ok])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    expect(counters.otherKeys.ok).toBe(3);
    counters.countMessages(keys('a') as CountedKey, 'rpc', 5, 500);
    expect(counters.keys.get('a' as KeyId)).toMatchObject({ ok: 2, failed: 0, messages: 5, bytesOut: 540 });
  });

  it('evict an idle key and add its counts to the others', () => {
    let now = 0;
    const keys = create();
    const counters = new RequestCounters({ keysMax: 2, idleMs: 600_000, now: () => now });
    const shown = () => [...counters.keys].map(([key, { ok }]) => `${key} ${ok}`);
    for (const key of ['a', 'b', 'b', 'c']) counters.count(keys(key), request, 0.001);
    counters.countMessages(keys('b') as CountedKey, 'rpc', 5, 500);
    now = 599_999;
    for (const key of ['a', 'c']) counters.count(keys(key), request, 0.001);
    expect([shown(), counters.otherKeys.ok]).toEqual([['a 2', 'b 2'], 2]);
    now = 620_000;
    for (const key of ['c', 'd', 'c']) counters.count(keys(key), request, 0.001);
    expect(shown()).toEqual(['a 2', 'c 2']);
    // Two of c before it had a counter, two of b, one of d.
    expect(counters.otherKeys).toEqual({ ok: 5, failed: 0, messages: 5, bytesOut: 600 });
    counters.count(keys('b'), request, 0.001);
    expect([shown(), counters.otherKeys.ok]).toEqual([['a 2', 'c 2'], 6]);
  });
});

describe('request counters', () => {
  it('give a free counter to keys that were refused one before', () => {
    let now = 0;
    const keys = withState();
    const counters = new RequestCounters({ keysMax: 2, idleMs: 600_000, now: () => now });
    for (const key of ['a', 'b', 'c', 'd']) counters.count(keys(key), request, 0.001);
    now = 600_000;
    for (const key of ['c', 'd', 'a']) counters.count(keys(key), request, 0.001);
    expect([...counters.keys.keys()]).toEqual(['c', 'd']);
  });

  it('count a latency in the first bucket with a bound not below it', () => {
    const counters = new RequestCounters();
    for (const seconds of [...latencyBoundsSeconds, 11]) counters.count(null, request, seconds);
    expect([...counters.products.rpc.latency]).toEqual(new Array(latencyBoundsSeconds.length + 1).fill(1));
    expect(counters.products.rpc.latencySeconds).toBeCloseTo(24.131);
    counters.count(null, { ...request, status: 'upstream' }, 0);
    expect(counters.products.rpc.requests).toMatchObject({ ok: 8, upstream: 1 });
    expect(counters.products.grpc.bytesIn).toBe(0);
  });

  it('count each method of the tables, and all other names together', () => {
    const counters = new RequestCounters();
    for (const method of ['getSlot', 'getSlot', 'made-up-1', 'made-up-2', 'SubscribeX', 'constructor'])
      counters.count(null, { ...request, method }, 0.002);
    counters.count(null, { ...request, method: 'getSlot', status: 'upstream' }, 0.3);
    expect([...counters.methods.keys()]).toEqual(['getSlot', 'other']);
    expect(counters.methods.get('getSlot')).toMatchObject({ requests: { ok: 2, upstream: 1 } });
    expect([...counters.methods.get('getSlot')!.latency]).toEqual([0, 2, 0, 0, 1, 0, 0, 0]);
    expect(counters.methods.get('other')).toMatchObject({ requests: { ok: 4 } });
  });
});
