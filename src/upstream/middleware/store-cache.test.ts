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
import { FinalizedRoots } from './response-cache.ts';
import { ResponseCounts } from './response-counts.ts';
import { type ResponseStore, StoreCache } from './store-cache.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkrZBG';

class ScriptedStore implements ResponseStore {
  readonly stored = new Map<string, Buffer>();
  readonly times: number[] = [];
  readonly waiting: (() => void)[] = [];
  isSlow = false;

  get(key: string, callback: (body: Buffer | null) => void): void {
    const respond = (): void => callback(this.stored.get(key) ?? null);
    if (this.isSlow) this.waiting.push(respond);
    else respond();
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
  const answers = new StoreCache(source, { store, counts, keys: new CallKeys(), roots });
  source.script = ({ method }) =>
    resultOf(method === 'getGenesisHash' ? JSON.stringify(genesis) : '{"of":"a node"}');
  const send = (call: Call) => {
    const listener = new RecordingHandler();
    const requestCount = answers.dispatch(call, listener);
    return { listener, cancel: () => requestCount.cancel() };
  };
  const requestCount = (): number =>
    source.calls.filter(({ call }) => call.method !== 'getGenesisHash').length;
  return { source, store, counts, send, requestCount };
}

const block = callOf('getBlock', [7]);

describe('StoreCache', () => {
  it('shares responses and their TTL between gateways', () => {
    const one = stage();
    const other = stage(GENESIS, one.store);
    one.send(block);
    expect([one.requestCount(), one.store.times]).toEqual([1, [3_600_000]]);
    expect(other.send(block).listener.ending).toBe('{"of":"a node"}');
    expect([other.requestCount(), other.counts.stored]).toEqual([0, 1]);
  });

  it('separates chains with the same network name', () => {
    const one = stage();
    const other = stage('4uhcVJyU9pJkvQyS88uRDiswHXSckY9JqEQoD8X6vWeX', one.store);
    one.send(block);
    other.send(block);
    expect(other.requestCount()).toBe(1);
  });

  it('stores immutable responses only', () => {
    const { store, send, requestCount } = stage();
    for (const call of [
      callOf('getAccountInfo', ['a']),
      callOf('getBalance', ['a']),
      callOf('getBlock', [101]),
    ]) {
      send(call);
    }
    expect([store.stored.size, requestCount()]).toEqual([0, 3]);
  });

  it('calls a node after the timeout and pauses the store', () => {
    const { store, counts, send, requestCount } = stage();
    send(block);
    store.isSlow = true;
    const { listener } = send(block);
    expect(listener.ending).toBeNull();
    vi.advanceTimersByTime(5);
    expect([listener.ending, requestCount()]).toEqual(['{"of":"a node"}', 2]);
    // A late result is ignored.
    for (const respond of store.waiting) respond();
    expect([listener.ending, counts.stored]).toEqual(['{"of":"a node"}', 0]);
    send(block);
    expect(store.waiting).toHaveLength(1);
    vi.advanceTimersByTime(1_000);
    send(block);
    expect(store.waiting).toHaveLength(2);
  });
});
