import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  callOf,
  RecordingHandler,
  resultOf,
  ScriptedDispatcher,
  ScriptedSlots,
} from '../../../test/upstream/mock/scripted-dispatcher.ts';
import type { Call } from '../../protocol/call.ts';
import { CallKeys } from './call-key.ts';
import type { ResponseStore } from './redis-cache.ts';
import { RedisCache } from './redis-cache.ts';
import { FinalizedRoots } from './response-cache.ts';
import { ResponseCounts } from './response-counts.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkrZBG';

/** Responds at once, or on demand. */
class ScriptedStore implements ResponseStore {
  readonly stored = new Map<string, Buffer>();
  readonly times: number[] = [];
  readonly waiting: (() => void)[] = [];
  isSlow = false;

  get(key: string, hear: (body: Buffer | null) => void): void {
    const tell = (): void => hear(this.stored.get(key) ?? null);
    if (this.isSlow) this.waiting.push(tell);
    else tell();
  }

  set(key: string, body: Buffer, ttlMs: number): void {
    this.stored.set(key, body);
    this.times.push(ttlMs);
  }
}

function stage(genesis = GENESIS, store = new ScriptedStore()) {
  const source = new ScriptedDispatcher();
  const slots = new ScriptedSlots();
  slots.set('finalized', 100);
  const counts = new ResponseCounts();
  const roots = new FinalizedRoots(slots, () => {});
  const answers = new RedisCache(source, { store, counts, keys: new CallKeys(), roots });
  source.script = ({ method }) =>
    resultOf(method === 'getGenesisHash' ? JSON.stringify(genesis) : '{"of":"a node"}');
  const put = (call: Call) => {
    const listener = new RecordingHandler();
    const asked = answers.dispatch(call, listener);
    return { listener, leave: () => asked.cancel() };
  };
  /** Calls that reached the nodes. */
  const asked = (): number => source.calls.filter(({ call }) => call.method !== 'getGenesisHash').length;
  return { source, store, counts, put, asked };
}

const block = callOf('getBlock', [7]);

describe('RedisCache', () => {
  it('shares responses between gateways with their lifetime', () => {
    const one = stage();
    const other = stage(GENESIS, one.store);
    one.put(block);
    expect([one.asked(), one.store.times]).toEqual([1, [3_600_000]]);
    expect(other.put(block).listener.ending).toBe('{"of":"a node"}');
    expect([other.asked(), other.counts.stored]).toEqual([0, 1]);
  });

  it('separates chains with the same network name', () => {
    const one = stage();
    const other = stage('4uhcVJyU9pJkvQyS88uRDiswHXSckY9JqEQoD8X6vWeX', one.store);
    one.put(block);
    other.put(block);
    expect(other.asked()).toBe(1);
  });

  it('stores immutable responses only', () => {
    const { store, put, asked } = stage();
    for (const call of [
      callOf('getAccountInfo', ['a']),
      callOf('getBalance', ['a']),
      callOf('getBlock', [101]),
    ]) {
      put(call);
    }
    expect([store.stored.size, asked()]).toEqual([0, 3]);
  });

  it('ignores stored data that is not JSON', () => {
    const { store, put } = stage();
    put(block);
    for (const key of store.stored.keys()) store.stored.set(key, Buffer.from('{"half":'));
    expect(put(block).listener.ending).toBe('{"of":"a node"}');
  });

  it('calls a node after the timeout and pauses the store', () => {
    const { store, counts, put, asked } = stage();
    put(block);
    store.isSlow = true;
    const { listener } = put(block);
    expect(listener.ending).toBeNull();
    vi.advanceTimersByTime(5);
    expect([listener.ending, asked()]).toEqual(['{"of":"a node"}', 2]);
    // A late result is ignored.
    for (const tell of store.waiting) tell();
    expect([listener.ending, counts.stored]).toEqual(['{"of":"a node"}', 0]);
    put(block);
    expect(store.waiting).toHaveLength(1);
    vi.advanceTimersByTime(1_000);
    put(block);
    expect(store.waiting).toHaveLength(2);
  });

  it('can be canceled during a lookup, without calling a node', () => {
    const { store, put, asked } = stage();
    put(block);
    store.isSlow = true;
    const { listener, leave } = put(block);
    leave();
    vi.advanceTimersByTime(50);
    for (const tell of store.waiting) tell();
    expect([listener.ending, asked()]).toEqual(['CLIENT_GONE', 1]);
  });
});
