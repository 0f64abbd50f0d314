import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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
import { MonotonicReads } from './monotonic-reads.ts';
import { ResponseCounts } from './response-counts.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const behind: RpcResponse = {
  body: Buffer.from(
    '{"code":-32016,"message":"Minimum context slot has not been reached","data":{"contextSlot":8}}',
  ),
  errorCode: -32016,
};

function stage(told = 10n) {
  const source = new ScriptedDispatcher();
  const counts = new ResponseCounts();
  const slots = new ScriptedSlots();
  const calls = new MonotonicReads(source, { slots, keys: new CallKeys(), counts });
  const floor = new MinSlot();
  floor.raise('finalized', slot(told));
  const put = (call: Call) => {
    const listener = new RecordingHandler();
    const asked = calls.dispatch({ ...call, minSlot: floor }, listener);
    return { listener, leave: () => asked.cancel() };
  };
  /** Responds to the last call. */
  const answer = (given: RpcResponse): void => source.calls.at(-1)!.respond(given);
  return { source, slots, counts, floor, put, answer };
}

const balance = callOf('getBalance', ['a']);
const text = ({ body }: RpcResponse): string => body.toString();

describe('MonotonicReads', () => {
  it('passes on a response that is not older and raises the minimum slot', () => {
    const { source, floor, put, answer } = stage();
    const { listener } = put(balance);
    answer(at(12));
    expect(listener.ending).toBe(text(at(12)));
    expect(floor.at('finalized')).toBe(12n);
    expect(source.params).toEqual(['["a"]']);
  });

  it('ignores implausible slots and heights', () => {
    const { slots, floor, put, answer } = stage();
    slots.set('processed', 12);
    put(balance);
    answer(at(9_000_000));
    put(callOf('getBlockHeight'));
    answer(resultOf('9000000'));
    expect([floor.at('finalized'), floor.heights.at('finalized')]).toEqual([10n, 0n]);
    const { listener } = put(balance);
    answer(at(76));
    expect([listener.ending, floor.at('finalized')]).toEqual([text(at(76)), 76n]);
  });

  it('retries an older response with minContextSlot', () => {
    const { source, counts, put, answer } = stage();
    const { listener } = put(balance);
    answer(at(9));
    expect(listener.ending).toBeNull();
    expect(source.params).toEqual(['["a"]', '["a",{"minContextSlot":10}]']);
    answer(at(10));
    expect([listener.ending, counts.backward]).toEqual([text(at(10)), 1]);
  });

  it('backs off while all nodes are behind', () => {
    const { source, put, answer } = stage();
    const { listener } = put(balance);
    answer(at(9));
    answer(behind);
    expect(source.calls).toHaveLength(2);
    vi.advanceTimersByTime(50);
    expect(source.calls).toHaveLength(3);
    answer(at(10));
    expect(listener.ending).toBe(text(at(10)));
  });

  it('returns the "minimum context slot" error after the timeout', () => {
    const { source, put } = stage();
    const { listener } = put(balance);
    source.script = () => behind;
    source.calls[0]!.respond(at(9));
    vi.advanceTimersByTime(2_500);
    expect(listener.ending).toBe(text(behind));
    expect(source.calls.length).toBeLessThan(20);
  });

  it('retries even if the first response took longer than the timeout', () => {
    const { source, put, answer } = stage();
    const { listener } = put(balance);
    vi.advanceTimersByTime(5_000);
    answer(at(9));
    expect([listener.ending, source.calls.length]).toEqual([null, 2]);
    answer(at(10));
    expect(listener.ending).toBe(text(at(10)));
  });

  it('returns that error too for methods without minContextSlot', () => {
    const { source, put } = stage();
    source.script = () => at(8);
    const { listener } = put(callOf('getTokenSupply', ['m']));
    vi.advanceTimersByTime(2_500);
    expect(listener.ending).toBe(text(behind));
    expect(new Set(source.params)).toEqual(new Set(['["m"]']));
  });

  it('adds minContextSlot at once for methods that do not report a slot', () => {
    const { source, put, answer } = stage();
    const { listener } = put(callOf('getBlockHeight', [{ commitment: 'confirmed' }]));
    expect(source.params).toEqual(['[{"minContextSlot":10,"commitment":"confirmed"}]']);
    answer(resultOf('5'));
    expect(listener.ending).toBe('5');
  });

  it('does not let block heights go back', () => {
    const { source, put, answer } = stage();
    const height = callOf('getBlockHeight');
    put(height);
    answer(resultOf('7'));
    const again = put(height);
    answer(resultOf('6'));
    expect(again.listener.ending).toBeNull();
    vi.advanceTimersByTime(50);
    expect(source.calls).toHaveLength(3);
    answer(resultOf('7'));
    expect(again.listener.ending).toBe('7');
  });

  it('learns the slot of getEpochInfo', () => {
    const { floor, put, answer } = stage();
    const epoch = (slot: number): string => `{"absoluteSlot":${slot},"epoch":0}`;
    put(callOf('getEpochInfo'));
    answer(resultOf(epoch(12)));
    expect(floor.at('finalized')).toBe(12n);
    const { listener } = put(callOf('getEpochInfo'));
    answer(resultOf(epoch(11)));
    expect(listener.ending).toBeNull();
    answer(resultOf(epoch(12)));
    expect(listener.ending).toBe(epoch(12));
  });

  it('allows older slots at stronger commitments', () => {
    const { floor, put, answer } = stage();
    floor.raise('processed', slot(40n));
    const { listener } = put(callOf('getBalance', ['a']));
    answer(at(11));
    expect(listener.ending).toBe(text(at(11)));
    const processed = put(callOf('getBalance', ['a', { commitment: 'processed' }]));
    answer(at(39));
    expect(processed.listener.ending).toBeNull();
  });

  it('passes on failures and errors caused by the caller', () => {
    const { put, answer } = stage();
    const refused = put(balance);
    answer({ body: Buffer.from('{"code":-32602}'), errorCode: -32602 });
    expect(refused.listener.ending).toBe('{"code":-32602}');
    const greedy = put(callOf('getBalance', ['a', { minContextSlot: 99 }]));
    answer(behind);
    expect(greedy.listener.ending).toBe(text(behind));
  });

  it('can be canceled during a call and during a backoff', () => {
    const { source, put, answer } = stage();
    const asking = put(balance);
    asking.leave();
    expect([asking.listener.ending, source.calls[0]!.cancelCount()]).toEqual(['CLIENT_GONE', 1]);
    const waiting = put(balance);
    answer(at(9));
    answer(behind);
    waiting.leave();
    vi.advanceTimersByTime(5_000);
    expect([waiting.listener.ending, source.calls.length]).toEqual(['CLIENT_GONE', 3]);
  });
});

describe('other calls', () => {
  it('are forwarded without a session, or with an effect', () => {
    const { source, put } = stage();
    put(callOf('sendTransaction', ['t']));
    put(callOf('getSecretSauce', ['t']));
    expect(source.params).toEqual(['["t"]', '["t"]']);
  });
});
