import { describe, expect, it } from 'vitest';
import {
  callOf,
  RecordingHandler,
  resultOf,
  ScriptedDispatcher,
  ScriptedSlots,
} from '../../../test/upstream/mock/scripted-dispatcher.ts';
import type { Call, RpcResponse } from '../../protocol/call.ts';
import { CallKeys } from './call-key.ts';
import { ResponseCounts } from './response-counts.ts';
import { SlotCache } from './slot-cache.ts';

function stage() {
  const source = new ScriptedDispatcher();
  source.script = () => resultOf('"forwarded"');
  const clock = { now: 0 };
  const slots = new ScriptedSlots();
  const counts = new ResponseCounts();
  const slotCache = new SlotCache(source, { slots, keys: new CallKeys(), counts, now: () => clock.now });
  const send = (call: Call): string | null => {
    const listener = new RecordingHandler();
    slotCache.dispatch(call, listener);
    return listener.ending;
  };
  return { source, clock, slots, counts, send };
}

const head = (commitment: string, more: object = {}): Call => callOf('getSlot', [{ commitment, ...more }]);

describe('getSlot', () => {
  it('is answered from a recent slot at that commitment', () => {
    const { source, slots, clock, counts, send } = stage();
    slots.set('processed', 33, 0);
    slots.set('confirmed', 32, 0);
    slots.set('finalized', 1, 0);
    clock.now = 500;
    expect(send(head('processed'))).toBe('33');
    expect(send(head('confirmed'))).toBe('32');
    expect(send(callOf('getSlot'))).toBe('1');
    expect([source.calls.length, counts.heads]).toEqual([0, 3]);
  });

  it('is forwarded without a recent slot', () => {
    const { slots, clock, send } = stage();
    expect(send(head('processed'))).toBe('"forwarded"');
    slots.set('processed', 33, 0);
    clock.now = 501;
    expect(send(head('processed'))).toBe('"forwarded"');
  });

  it.each([
    ['a newer slot is required', [{ minContextSlot: 34 }]],
    ['the commitment is invalid', [{ commitment: 'recent' }]],
    ['there are too many params', [{}, 1]],
    ['the options are not an object', ['finalized']],
    ['a slot is not a number', [{ minContextSlot: 'x' }]],
  ])('is forwarded when %s', (_, params) => {
    const { slots, send } = stage();
    slots.set('finalized', 33, 0);
    expect(send(callOf('getSlot', params))).toBe('"forwarded"');
    expect(send(callOf('getSlot', [{ minContextSlot: 33 }]))).toBe('33');
  });

  it('is never older than a recent response from a node', () => {
    const { source, slots, clock, send } = stage();
    source.script = () => resultOf('35');
    expect(send(head('processed'))).toBe('35');
    slots.set('processed', 33, 0);
    clock.now = 100;
    expect(send(head('processed'))).toBe('35');
    expect(source.calls).toHaveLength(1);
    slots.set('processed', 34, 600);
    clock.now = 700;
    source.script = () => resultOf('36');
    expect(send(head('processed'))).toBe('36');
    expect(source.calls).toHaveLength(2);
    slots.set('processed', 40, 800);
    expect(send(head('processed'))).toBe('40');
  });
});

describe('getHealth', () => {
  it('is ok while a recent healthy response and recent slots exist', () => {
    const { source, slots, clock, counts, send } = stage();
    slots.set('processed', 33, 0);
    expect(send(callOf('getHealth'))).toBe('"forwarded"');
    expect([send(callOf('getHealth', [])), counts.heads]).toEqual(['"ok"', 1]);
    clock.now = 501;
    expect(send(callOf('getHealth'))).toBe('"forwarded"');
    clock.now = 5_502;
    slots.set('processed', 45, 5_500);
    expect(send(callOf('getHealth'))).toBe('"forwarded"');
    expect(source.calls).toHaveLength(3);
  });

  it('is forwarded while no node reports itself healthy', () => {
    const { source, slots, send } = stage();
    slots.set('processed', 33, 0);
    send(callOf('getHealth'));
    const isBehind: RpcResponse = { body: Buffer.from('{"code":-32005}'), errorCode: -32005 };
    source.script = () => isBehind;
    expect(send(callOf('getHealth'))).toBe('"ok"');
    slots.set('processed', 34, -600);
    expect(send(callOf('getHealth'))).toBe('{"code":-32005}');
    slots.set('processed', 35, 0);
    expect([send(callOf('getHealth')), send(callOf('getHealth'))]).toEqual(Array(2).fill('{"code":-32005}'));
  });
});
