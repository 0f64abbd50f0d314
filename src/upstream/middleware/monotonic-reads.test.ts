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
  /** Answers the call that was asked last. */
  const answer = (given: RpcResponse): void => source.calls.at(-1)!.respond(given);
  return { source, slots, counts, floor, put, answer };
}

const balance = callOf('getBalance', ['a']);
const text = ({ body }: RpcResponse): string => body.toString();

describe('a reader who was told of a slot', () => {
  it('is told of it again or of a newer one, and that is what they were told then', () => {
    const { source, floor, put, answer } = stage();
    const { listener } = put(balance);
    answer(at(12));
    expect(listener.ending).toBe(text(at(12)));
    expect(floor.at('finalized')).toBe(12n);
    expect(source.params).toEqual(['["a"]']);
  });

  it('is held to no slot or height that the chain cannot have come to, whatever one node told', () => {
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

  it('is not told of an older one: a node that is not behind is asked', () => {
    const { source, counts, put, answer } = stage();
    const { listener } = put(balance);
    answer(at(9));
    expect(listener.ending).toBeNull();
    expect(source.params).toEqual(['["a"]', '["a",{"minContextSlot":10}]']);
    answer(at(10));
    expect([listener.ending, counts.backward]).toEqual([text(at(10)), 1]);
  });

  it('waits a while for nodes that are all behind', () => {
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

  it('gets the error of a node that is behind when the time is up', () => {
    const { source, put } = stage();
    const { listener } = put(balance);
    source.script = () => behind;
    source.calls[0]!.respond(at(9));
    vi.advanceTimersByTime(2_500);
    expect(listener.ending).toBe(text(behind));
    expect(source.calls.length).toBeLessThan(20);
  });

  it('is asked for again though the answer that is too old took longer than that', () => {
    const { source, put, answer } = stage();
    const { listener } = put(balance);
    vi.advanceTimersByTime(5_000);
    answer(at(9));
    expect([listener.ending, source.calls.length]).toEqual([null, 2]);
    answer(at(10));
    expect(listener.ending).toBe(text(at(10)));
  });

  it('gets it too where nodes cannot be told what is wanted of them', () => {
    const { source, put } = stage();
    source.script = () => at(8);
    const { listener } = put(callOf('getTokenSupply', ['m']));
    vi.advanceTimersByTime(2_500);
    expect(listener.ending).toBe(text(behind));
    expect(new Set(source.params)).toEqual(new Set(['["m"]']));
  });

  it('asks only nodes that are not behind where an answer does not say of which slot it is', () => {
    const { source, put, answer } = stage();
    const { listener } = put(callOf('getBlockHeight', [{ commitment: 'confirmed' }]));
    expect(source.params).toEqual(['[{"minContextSlot":10,"commitment":"confirmed"}]']);
    answer(resultOf('5'));
    expect(listener.ending).toBe('5');
  });

  it('is told of no lower height of blocks, though heights say nothing of slots', () => {
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

  it('was told of the slot that the epoch is at', () => {
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

  it('may ask for what is settled more, which is older', () => {
    const { floor, put, answer } = stage();
    floor.raise('processed', slot(40n));
    const { listener } = put(callOf('getBalance', ['a']));
    answer(at(11));
    expect(listener.ending).toBe(text(at(11)));
    const processed = put(callOf('getBalance', ['a', { commitment: 'processed' }]));
    answer(at(39));
    expect(processed.listener.ending).toBeNull();
  });

  it('is told at once what goes wrong, and what they asked too much of themselves', () => {
    const { put, answer } = stage();
    const refused = put(balance);
    answer({ body: Buffer.from('{"code":-32602}'), errorCode: -32602 });
    expect(refused.listener.ending).toBe('{"code":-32602}');
    const greedy = put(callOf('getBalance', ['a', { minContextSlot: 99 }]));
    answer(behind);
    expect(greedy.listener.ending).toBe(text(behind));
  });

  it('can leave while a node is asked and while one is waited for', () => {
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

describe('everybody else', () => {
  it('is asked for as ever, and so is what has an effect', () => {
    const { source, put } = stage();
    put(callOf('sendTransaction', ['t']));
    put(callOf('getSecretSauce', ['t']));
    expect(source.params).toEqual(['["t"]', '["t"]']);
  });
});
