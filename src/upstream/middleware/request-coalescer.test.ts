import { describe, expect, it } from 'vitest';
import {
  callOf,
  RecordingHandler,
  resultOf,
  ScriptedDispatcher,
} from '../../../test/upstream/mock/scripted-dispatcher.ts';
import type { Call } from '../../protocol/call.ts';
import { methods, methodTraits } from '../../protocol/methods.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import { CallKeys } from './call-key.ts';
import { type CoalescerLimits, RequestCoalescer } from './request-coalescer.ts';
import { ResponseCounts } from './response-counts.ts';

/** Multiplier with known collisions. */
const FNV = 16_777_619;

function stage(limits: Partial<CoalescerLimits> = {}) {
  const source = new ScriptedDispatcher();
  const clock = { now: 0 };
  const now = () => clock.now;
  const counts = new ResponseCounts();
  const shared = new RequestCoalescer(source, {
    ...{ counts, limits, listener: null, now },
    keys: new CallKeys({ multiplier: FNV, now }),
  });
  const send = (call: Call = callOf('getBlock', ['a'])) => {
    const listener = new RecordingHandler();
    const pending = shared.dispatch({ ...call, trace: listener }, listener);
    return { listener, cancel: () => pending.cancel() };
  };
  return { source, shared, counts, clock, send };
}

describe('RequestCoalescer', () => {
  it('sends identical calls once and shares the response', () => {
    const { source, shared, counts, send } = stage();
    const callers = Array.from({ length: 1_000 }, () => send());
    expect([source.calls.length, shared.calls, shared.waiting]).toEqual([1, 1, 999]);
    const answer = resultOf('7');
    source.calls[0]!.respond(answer);
    for (const { listener } of callers) expect(listener.responses).toEqual([answer]);
    expect(callers.every(({ listener }) => listener.responses[0] === answer)).toBe(true);
    expect(callers.map(({ listener }) => listener.servedFrom.length).reduce((a, b) => a + b)).toBe(999);
    expect([shared.calls, shared.waiting, counts.shared]).toEqual([0, 0, 999]);
  });

  it('coalesces calls with equal bytes only', () => {
    const { source, send } = stage();
    send(callOf('getBlock', ['a', { commitment: 'confirmed' }]));
    send(callOf('getBlock', ['a', { commitment: 'confirmed' }]));
    send(callOf('getBlock', ['a', { commitment: 'processed' }]));
    send(callOf('getBlock', ['A', { commitment: 'confirmed' }]));
    send({ ...callOf('getBlock', ['a', { commitment: 'confirmed' }]), network: 'testnet' });
    send(callOf('getBlockTime', ['a', { commitment: 'confirmed' }]));
    expect(source.calls).toHaveLength(5);
  });

  it('does not join calls that only have equal fingerprints', () => {
    const { source, send } = stage();
    const [one, other] = [callOf('getBalance', [564_258]), callOf('getBalance', [1_828_122])];
    const keys = new CallKeys({ multiplier: FNV });
    expect(keys.fingerprintOf(one)).toBe(keys.fingerprintOf(other));
    for (const call of [one, one, other, other]) send(call);
    expect(source.calls).toHaveLength(3);
  });

  it.each(Object.keys(methods))('%s: coalesced according to its traits', (method) => {
    const { source, send } = stage();
    for (let sent = 0; sent < 3; sent++) send(callOf(method, []));
    const { kind } = methods[method as keyof typeof methods];
    const isRead = !['send', 'mint', 'simulate'].includes(kind);
    expect(methodTraits[kind].shared).toBe(isRead);
    // A call for the head is not registered until it is repeated.
    expect(source.calls).toHaveLength(!isRead ? 3 : kind === 'head' ? 2 : 1);
  });
});

describe('canceling', () => {
  it('does not affect other callers', () => {
    for (const leaving of [0, 1, 2]) {
      const { source, send } = stage();
      const callers = [send(), send(), send()];
      callers[leaving]!.cancel();
      expect(callers[leaving]!.listener.ending).toBe('CLIENT_GONE');
      expect(source.calls[0]!.cancelCount()).toBe(0);
      source.calls[0]!.respond(resultOf('7'));
      const others = callers.filter((_, index) => index !== leaving);
      expect(others.map(({ listener }) => listener.ending)).toEqual(['7', '7']);
    }
  });

  it('cancels the call with the last caller', () => {
    const { source, shared, send } = stage();
    const callers = [send(), send(), send()];
    for (const { cancel } of callers) cancel();
    expect(source.calls[0]!.cancelCount()).toBe(1);
    expect(callers.map(({ listener }) => listener.ending)).toEqual(Array(3).fill('CLIENT_GONE'));
    expect([shared.calls, shared.waiting]).toEqual([0, 0]);
    send();
    expect(source.calls).toHaveLength(2);
  });

  it('during the response does not suppress it', () => {
    const { source, shared, send } = stage();
    const [first, second, third] = [send(), send(), send()];
    first.listener.onEnd = () => {
      second.cancel();
      third.cancel();
      first.cancel();
    };
    source.calls[0]!.respond(resultOf('7'));
    expect([first, second, third].map(({ listener }) => listener.ending)).toEqual(['7', '7', '7']);
    expect([source.calls[0]!.cancelCount(), shared.waiting, shared.calls]).toEqual([0, 0, 0]);
  });
});

describe('joining', () => {
  it('is limited to recent calls', () => {
    const { source, clock, send } = stage({ joinMaxMs: 400 });
    const old = send();
    clock.now = 401;
    const young = send();
    const younger = send();
    expect(source.calls).toHaveLength(2);
    source.calls[0]!.respond(resultOf('"old"'));
    expect([old, young].map(({ listener }) => listener.ending)).toEqual(['"old"', null]);
    const joined = send();
    expect(source.calls).toHaveLength(2);
    source.calls[1]!.respond(resultOf('"new"'));
    expect([young, younger, joined].map(({ listener }) => listener.ending)).toEqual(Array(3).fill('"new"'));
  });

  it('is limited in calls and callers', () => {
    const { source, shared, send } = stage({ callsMax: 2, waitingMax: 1 });
    send(callOf('getBlock', ['a']));
    send(callOf('getBlock', ['a']));
    send(callOf('getBlock', ['a']));
    expect([source.calls.length, shared.waiting]).toEqual([2, 1]);
    send(callOf('getBlock', ['b']));
    send(callOf('getBlock', ['c']));
    const alone = send(callOf('getBlock', ['c']));
    expect([source.calls.length, shared.calls]).toEqual([5, 2]);
    source.calls[4]!.respond(resultOf('7'));
    expect(alone.listener.ending).toBe('7');
  });

  it('is not possible for a streamed response; multiple callers get a buffered one', () => {
    const { source, shared, send } = stage();
    const call = callOf('getProgramAccounts', ['p']);
    const begun: StreamedResponse[] = [];
    const listener = Object.assign(new RecordingHandler(), {
      stream: { onStream: (answer: StreamedResponse) => void begun.push(answer) },
    });
    const long: StreamedResponse = { bytes: null, pipeTo() {}, pause() {}, resume() {}, cancel() {} };
    shared.dispatch(call, listener);
    send(call);
    expect(source.calls[0]!.handler.stream).toBeNull();
    source.calls[0]!.respond(resultOf('7'));
    shared.dispatch(call, listener);
    source.calls[1]!.handler.stream!.onStream(long);
    expect([begun, shared.calls]).toEqual([[long], 0]);
    send(call);
    expect(source.calls).toHaveLength(3);
  });
});
