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
import { MonotonicReads, withMinContextSlot } from './monotonic-reads.ts';
import { ResponseCounts } from './response-counts.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const behind: RpcResponse = {
  body: Buffer.from(
    '{"code":-32016,"message":"Minimum context slot has not been reached","data":{"contextSlot":8}}',
  ),
  errorCode: -32016,
};

function stage(observed = 10n) {
  const source = new ScriptedDispatcher();
  const counts = new ResponseCounts();
  const slots = new ScriptedSlots();
  const calls = new MonotonicReads(source, { slots, keys: new CallKeys(), counts });
  const minSlot = new MinSlot();
  minSlot.raise('finalized', slot(observed));
  const send = (call: Call) => {
    const listener = new RecordingHandler();
    const pending = calls.dispatch({ ...call, minSlot: minSlot }, listener);
    return { listener, cancel: () => pending.cancel() };
  };
  const answer = (given: RpcResponse): void => source.calls.at(-1)!.respond(given);
  return { source, slots, counts, minSlot, send, answer };
}

const balance = callOf('getBalance', ['a']);
const text = ({ body }: RpcResponse): string => body.toString();

describe('MonotonicReads', () => {
  it('passes on a response that is not older and raises the minimum slot', () => {
    const { source, minSlot, send, answer } = stage();
    const { listener } = send(balance);
    answer(at(12));
    expect(listener.ending).toBe(text(at(12)));
    expect(minSlot.at('finalized')).toBe(12n);
    expect(source.params).toEqual(['["a"]']);
  });

  it('ignores implausible slots and heights', () => {
    const { slots, minSlot, send, answer } = stage();
    slots.set('processed', 12);
    send(balance);
    answer(at(9_000_000));
    send(callOf('getBlockHeight'));
    answer(resultOf('9000000'));
    expect([minSlot.at('finalized'), minSlot.heights.at('finalized')]).toEqual([10n, 0n]);
    const { listener } = send(balance);
    answer(at(76));
    expect([listener.ending, minSlot.at('finalized')]).toEqual([text(at(76)), 76n]);
  });

  it('retries an older response with minContextSlot', () => {
    const { source, counts, send, answer } = stage();
    const { listener } = send(balance);
    answer(at(9));
    expect(listener.ending).toBeNull();
    expect(source.params).toEqual(['["a"]', '["a",{"minContextSlot":10}]']);
    answer(at(10));
    expect([listener.ending, counts.backward]).toEqual([text(at(10)), 1]);
  });

  it('returns the "minimum context slot" error after the timeout', () => {
    const { source, send } = stage();
    const { listener } = send(balance);
    source.script = () => behind;
    source.calls[0]!.respond(at(9));
    vi.advanceTimersByTime(2_500);
    expect(listener.ending).toBe(text(behind));
    expect(source.calls.length).toBeLessThan(20);
  });

  it('adds minContextSlot at once for methods that do not report a slot', () => {
    const { source, send, answer } = stage();
    const { listener } = send(callOf('getBlockHeight', [{ commitment: 'confirmed' }]));
    expect(source.params).toEqual(['[{"minContextSlot":10,"commitment":"confirmed"}]']);
    answer(resultOf('5'));
    expect(listener.ending).toBe('5');
  });

  it('does not let block heights go back', () => {
    const { source, send, answer } = stage();
    const height = callOf('getBlockHeight');
    send(height);
    answer(resultOf('7'));
    const again = send(height);
    answer(resultOf('6'));
    expect(again.listener.ending).toBeNull();
    vi.advanceTimersByTime(50);
    expect(source.calls).toHaveLength(3);
    answer(resultOf('7'));
    expect(again.listener.ending).toBe('7');
  });

  it('allows older slots at stronger commitments', () => {
    const { minSlot, send, answer } = stage();
    minSlot.raise('processed', slot(40n));
    const { listener } = send(callOf('getBalance', ['a']));
    answer(at(11));
    expect(listener.ending).toBe(text(at(11)));
    const processed = send(callOf('getBalance', ['a', { commitment: 'processed' }]));
    answer(at(39));
    expect(processed.listener.ending).toBeNull();
  });

  it('passes on failures and errors caused by the caller', () => {
    const { send, answer } = stage();
    const refused = send(balance);
    answer({ body: Buffer.from('{"code":-32602}'), errorCode: -32602 });
    expect(refused.listener.ending).toBe('{"code":-32602}');
    const tooHigh = send(callOf('getBalance', ['a', { minContextSlot: 99 }]));
    answer(behind);
    expect(tooHigh.listener.ending).toBe(text(behind));
  });

  it('can be canceled during a call and during a backoff', () => {
    const { source, send, answer } = stage();
    const call = send(balance);
    call.cancel();
    expect([call.listener.ending, source.calls[0]!.cancelCount()]).toEqual(['CLIENT_GONE', 1]);
    const waiting = send(balance);
    answer(at(9));
    answer(behind);
    waiting.cancel();
    vi.advanceTimersByTime(5_000);
    expect([waiting.listener.ending, source.calls.length]).toEqual(['CLIENT_GONE', 3]);
  });
});

const written = (params: string | null, index: number): string | null =>
  withMinContextSlot(params === null ? null : Buffer.from(params), index, slot(7n))?.toString() ?? null;

describe('withMinContextSlot', () => {
  it.each([
    [null, 0, '[{"minContextSlot":7}]'],
    ['[]', 0, '[{"minContextSlot":7}]'],
    ['["a"]', 1, '["a",{"minContextSlot":7}]'],
    [' [ "a" ] ', 1, ' [ "a" ,{"minContextSlot":7}] '],
    ['["a",null]', 1, '["a",{"minContextSlot":7}]'],
    ['["a",{}]', 1, '["a",{"minContextSlot":7}]'],
    ['["a",{ "encoding":"base64"}]', 1, '["a",{"minContextSlot":7, "encoding":"base64"}]'],
    ['["a",{"minContextSlot":5,"x":[1]}]', 1, '["a",{"minContextSlot":7,"x":[1]}]'],
    ['["a",{"minContextSlot":null}]', 1, '["a",{"minContextSlot":7}]'],
  ])('%s', (params, index, expected) => {
    expect(written(params, index)).toBe(expected);
    expect(() => JSON.parse(expected)).not.toThrow();
  });

  it('keeps a higher or invalid value of the caller', () => {
    for (const params of [
      '["a",{"minContextSlot":9}]',
      '["a",{"minContextSlot":7}]',
      '["a",{"minContextSlot":"x"}]',
    ]) {
      const bytes = Buffer.from(params);
      expect(withMinContextSlot(bytes, 1, slot(7n))).toBe(bytes);
    }
  });

  it('returns null for missing params and other values', () => {
    expect([written('["a","json"]', 1), written('[]', 1), written('{}', 0)]).toEqual([null, null, null]);
  });
});
