import { describe, expect, it } from 'vitest';
import {
  at,
  callOf,
  RecordingHandler,
  resultOf,
  ScriptedDispatcher,
  ScriptedSlots,
} from '../../../test/upstream/mock/scripted-dispatcher.ts';
import type { Call, RpcResponse } from '../../protocol/call.ts';
import { MinSlot } from '../../protocol/min-slot.ts';
import { slot } from '../../solana/units.ts';
import { CallKeys } from './call-key.ts';
import { RequestCoalescer } from './request-coalescer.ts';
import { MemoryCache, type MemoryCacheLimits, ResponseCache } from './response-cache.ts';
import { ResponseCounts } from './response-counts.ts';

const account = callOf('getAccountInfo', ['a', { commitment: 'confirmed' }]);

/** Cache for which the call for the account counts as repeated. */
function stage(limits: Partial<MemoryCacheLimits> = {}) {
  const source = new ScriptedDispatcher();
  const clock = { now: 0 };
  const now = () => clock.now;
  const slots = new ScriptedSlots();
  const counts = new ResponseCounts();
  const keys = new CallKeys({ now });
  keys.isRepeated(account);
  const memory = new MemoryCache({ keys, slots, limits, now });
  const shared = new RequestCoalescer(source, { keys, counts, listener: memory, now });
  const cache = new ResponseCache(shared, { memory, keys, counts });
  const send = (call: Call) => {
    const listener = new RecordingHandler();
    cache.dispatch({ ...call, trace: listener }, listener);
    return listener;
  };
  /** @returns whether the call reached the next dispatcher, which responds. */
  const reaches = (call: Call, answer: RpcResponse): boolean => {
    const before = source.calls.length;
    source.script = () => answer;
    send(call);
    return source.calls.length > before;
  };
  return { source, clock, slots, counts, keys, memory, send, reaches };
}

describe('slot-bound state', () => {
  it('is requested again when the chain has advanced', () => {
    const { slots, reaches } = stage();
    slots.set('confirmed', 10);
    expect(reaches(account, at(10))).toBe(true);
    expect(reaches(account, at(10))).toBe(false);
    slots.set('confirmed', 11);
    expect(reaches(account, at(11))).toBe(true);
    slots.set('processed', 12);
    slots.set('finalized', 12);
    expect(reaches(account, at(11))).toBe(false);
  });

  it('of a node ahead of the tracker is cached until the tracker passes it', () => {
    const { slots, reaches } = stage();
    slots.set('confirmed', 10);
    reaches(account, at(12));
    slots.set('confirmed', 12);
    expect(reaches(account, at(12))).toBe(false);
    slots.set('confirmed', 13);
    expect(reaches(account, at(13))).toBe(true);
  });

  it('expires slotMs after the request', () => {
    const { source, clock, send } = stage();
    send(account);
    clock.now = 399;
    source.calls[0]!.respond(at(10));
    expect(send(account).ending).not.toBeNull();
    clock.now = 400;
    expect(send(account).ending).toBeNull();
    clock.now = 800;
    source.calls[1]!.respond(at(11));
    send(account);
    expect(source.calls).toHaveLength(3);
  });
});

describe('a call for the current slot', () => {
  it('is cached if repeated within a second, or joined', () => {
    const { source, clock, reaches, send } = stage();
    const call = () => callOf('getAccountInfo', ['b']);
    const seen = [0, 1_001, 2_001, 2_002].map((now) => {
      clock.now = now;
      return reaches(call(), at(10));
    });
    expect(seen).toEqual([true, true, true, false]);
    source.script = () => null;
    for (let n = 0; n < 2; n++) send(callOf('getAccountInfo', ['c']));
    source.calls.at(-1)!.respond(at(10));
    expect(reaches(callOf('getAccountInfo', ['c']), at(10))).toBe(false);
  });

  it('is neither hashed nor counted if its params are too long', () => {
    const { counts, reaches } = stage();
    for (let n = 0; n < 3; n++) reaches(callOf('getAccountInfo', ['x'.repeat(9_000)]), at(10));
    expect(counts.misses).toBe(0);
  });
});

describe('cached responses', () => {
  it('below the finalized root are served without a node', () => {
    const { slots, clock, reaches } = stage();
    slots.set('finalized', 100);
    const block = '{"blockhash":"b"}';
    expect(reaches(callOf('getBlock', [101]), resultOf(block))).toBe(true);
    expect(reaches(callOf('getBlock', [101]), resultOf(block))).toBe(true);
    expect(reaches(callOf('getBlock', [100]), resultOf(block))).toBe(true);
    clock.now = 3_000_000;
    slots.set('finalized', 9_000);
    expect(reaches(callOf('getBlock', [100]), resultOf(block))).toBe(false);
    expect(reaches(callOf('getBlock', [100, { commitment: 'finalized' }]), resultOf(block))).toBe(false);
    expect(reaches(callOf('getBlock', [100, { commitment: 'confirmed' }]), resultOf(block))).toBe(true);
    clock.now = 3_600_000;
    expect(reaches(callOf('getBlock', [100]), resultOf(block))).toBe(true);
  });

  it('of a transaction serve both commitments, and only once its slot is finalized', () => {
    const { slots, reaches, send } = stage();
    slots.set('finalized', 100);
    const [confirmed, finalized] = ['confirmed', 'finalized'].map((commitment) =>
      callOf('getTransaction', ['s', { commitment, encoding: 'json' }]),
    ) as [Call, Call];
    const on = (fork: number): RpcResponse => resultOf(`{"blockTime":1,"slot":${fork}}`);
    expect(reaches(confirmed, on(101))).toBe(true);
    expect(reaches(finalized, resultOf('null'))).toBe(true);
    expect(reaches(confirmed, on(100))).toBe(true);
    expect([finalized, confirmed].map((call) => reaches(call, on(101)))).toEqual([false, false]);
    expect(send(finalized).ending).toBe(on(100).body.toString());
    expect(reaches({ ...finalized, network: 'testnet' }, on(101))).toBe(true);
  });

  it('are the same bytes for the first and for later callers', () => {
    const { slots, send, source } = stage();
    slots.set('finalized', 100);
    const body = Buffer.from(`${' '.repeat(9_000)}{"slot":7}`).subarray(9_000);
    source.script = () => ({ body, errorCode: 0 });
    const [first, second] = [1, 2].map(() => send(callOf('getTransaction', ['s'])).responses[0]?.body);
    expect(second).toBe(first);
  });

  it('are dropped when the chain restarts', () => {
    const { slots, reaches } = stage();
    slots.set('finalized', 10_000);
    reaches(callOf('getBlock', [100]), resultOf('{"of":"the old one"}'));
    slots.set('finalized', 3);
    expect(reaches(callOf('getBlock', [100]), resultOf('null'))).toBe(true);
    slots.set('finalized', 200);
    expect(reaches(callOf('getBlock', [100]), resultOf('{}'))).toBe(true);
  });

  it('are skipped only for a session with a higher minimum slot', () => {
    const { source, reaches, send } = stage();
    reaches(account, at(10));
    const minSlot = new MinSlot();
    minSlot.raise('confirmed', slot(11n));
    source.script = () => null;
    send({ ...account, minSlot: minSlot });
    expect(source.calls).toHaveLength(2);
    expect(send(account).ending).toBe(at(10).body.toString());
    const lower = new MinSlot();
    lower.raise('confirmed', slot(10n));
    expect(send({ ...account, minSlot: lower }).ending).toBe(at(10).body.toString());
  });
});

describe('cache limits', () => {
  it('bound the size of all entries', () => {
    const { slots, memory, reaches } = stage({ maxBytes: 20_000, answerMaxBytes: 5_000 });
    slots.set('finalized', 1_000);
    const block = resultOf(JSON.stringify('x'.repeat(3_000)));
    for (let n = 0; n < 50; n++) {
      reaches(callOf('getBlock', [n]), block);
      expect(memory.bytes).toBeLessThanOrEqual(20_000);
    }
    expect([memory.entries, memory.evictions]).toEqual([5, 45]);
  });

  it('bound the number of entries and the response size', () => {
    const { slots, memory, reaches } = stage({ entriesMax: 3, answerMaxBytes: 100 });
    slots.set('finalized', 1_000);
    for (let n = 0; n < 20; n++) reaches(callOf('getBlock', [n]), resultOf('{}'));
    expect(memory.entries).toBe(3);
    reaches(callOf('getBlock', [99]), resultOf(JSON.stringify('x'.repeat(100))));
    expect(memory.entries).toBe(3);
    expect(reaches(callOf('getBlock', [99]), resultOf('{}'))).toBe(true);
  });
});
