import { describe, expect, it } from 'vitest';
import type { KeyId } from '../auth/key-record.ts';
import { createKeyState } from '../auth/key-state.ts';
import type { MeteredKey } from '../metering/usage-meter.ts';
import { latencyBounds, RequestCounters } from './request-counters.ts';

const request = { product: 'rpc', status: 'ok', bytesIn: 10, bytesOut: 20 } as const;

type KeysById = (id: string | null) => MeteredKey | null;

const withoutSeats: KeysById = (id) => (id === null ? null : { id: id as KeyId });

/** As the directory holds them: a key comes with its seat each time. */
function withSeats(): KeysById {
  const keys = new Map<string, MeteredKey>();
  return (id) => {
    if (id === null) return null;
    const key = keys.get(id) ?? { id: id as KeyId, keyState: createKeyState() };
    keys.set(id, key);
    return key;
  };
}

describe.each([
  ['of keys without seats', () => withoutSeats],
  ['of keys with seats', withSeats],
])('the totals of the doors, %s,', (_name, create) => {
  it('count each key up to a number, and all others together', () => {
    const keys = create();
    const counters = new RequestCounters({ keysMax: 2 });
    for (const key of ['a', 'b', 'c', 'd', 'a', null]) counters.count(keys(key), request, 0.001);
    expect([...counters.keys].map(([key, { ok }]) => [key, ok])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    expect(counters.otherKeys.ok).toBe(3);
    counters.countMessages(keys('a') as MeteredKey, 'rpc', 5, 500);
    expect(counters.keys.get('a' as KeyId)).toMatchObject({ ok: 2, failed: 0, messages: 5, bytesOut: 540 });
  });

  it('let a key that is used no more make room for another, and count what it had with the others', () => {
    let now = 0;
    const keys = create();
    const counters = new RequestCounters({ keysMax: 2, idleMs: 600_000, now: () => now });
    const shown = () => [...counters.keys].map(([key, { ok }]) => `${key} ${ok}`);
    for (const key of ['a', 'b', 'b', 'c']) counters.count(keys(key), request, 0.001);
    counters.countMessages(keys('b') as MeteredKey, 'rpc', 5, 500);
    now = 599_999;
    for (const key of ['a', 'c']) counters.count(keys(key), request, 0.001);
    expect([shown(), counters.otherKeys.ok]).toEqual([['a 2', 'b 2'], 2]);
    now = 620_000;
    for (const key of ['c', 'd', 'c']) counters.count(keys(key), request, 0.001);
    expect(shown()).toEqual(['a 2', 'c 2']);
    // Two of c before it was counted for itself, two of b, one of d.
    expect(counters.otherKeys).toEqual({ ok: 5, failed: 0, messages: 5, bytesOut: 600 });
    counters.count(keys('b'), request, 0.001);
    expect([shown(), counters.otherKeys.ok]).toEqual([['a 2', 'c 2'], 6]);
  });
});

describe('the totals of the doors', () => {
  it('let every key that waits for a place find one as soon as there is one', () => {
    let now = 0;
    const keys = withSeats();
    const counters = new RequestCounters({ keysMax: 2, idleMs: 600_000, now: () => now });
    for (const key of ['a', 'b', 'c', 'd']) counters.count(keys(key), request, 0.001);
    now = 600_000;
    for (const key of ['c', 'd', 'a']) counters.count(keys(key), request, 0.001);
    expect([...counters.keys.keys()]).toEqual(['c', 'd']);
  });

  it('put each latency into the first bucket that it does not exceed', () => {
    const counters = new RequestCounters();
    for (const seconds of [...latencyBounds, 11]) counters.count(null, request, seconds);
    expect([...counters.products.rpc.latency]).toEqual(new Array(latencyBounds.length + 1).fill(1));
    counters.count(null, { ...request, status: 'upstream' }, 0);
    expect(counters.products.rpc.requests).toMatchObject({ ok: 8, upstream: 1 });
    expect(counters.products.grpc.bytesIn).toBe(0);
  });
});
