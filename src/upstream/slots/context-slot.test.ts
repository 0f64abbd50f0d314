import { describe, expect, it } from 'vitest';
import type { Call } from '../../protocol/call.ts';
import { methodRow, methods } from '../../protocol/methods.ts';
import {
  commitmentOf,
  contextSlot,
  firstSlotOf,
  leadingContextSlot,
  minContextSlotOf,
  newestSlotOf,
  readObservedSlot,
  slotOfResult,
} from './context-slot.ts';

const call = (method: string, params: string | null): Call => ({
  network: 'devnet',
  method,
  row: methodRow(method),
  params: params === null ? null : Buffer.from(params),
});

describe('leadingContextSlot', () => {
  it.each([
    ['{"context":{"slot":7},"value":1}', 7n],
    ['{"context":{"apiVersion":"2.1.0","slot":18446744073709551615},"value":null}', 18446744073709551615n],
    [' {"context":{"slot":7},"value":1}', null],
    ['{ "context" : { "slot" : 7 } , "value" : 1 }', 7n],
    ['{"value":{"context":{"slot":7}}}', null],
    ['{"context":{"slot":18446744073709551616},"value":1}', null],
    ['7', null],
  ])('of %s is %s', (result, slot) => {
    expect(leadingContextSlot(Buffer.from(result))).toBe(slot);
  });
});

describe('slots in params', () => {
  it('commitment, by default finalized', () => {
    expect(commitmentOf(call('getBalance', '["x",{"commitment":"processed"}]'))).toBe('processed');
    expect(commitmentOf(call('getBalance', '["x",{"commitment" : "confirmed"}]'))).toBe('confirmed');
    expect(commitmentOf(call('getBalance', '["x"]'))).toBe('finalized');
    expect(commitmentOf(call('getBalance', null))).toBe('finalized');
    expect(commitmentOf(call('getSignatureStatuses', '[["x"]]'))).toBe('processed');
  });

  it('minContextSlot', () => {
    expect(minContextSlotOf(call('getBalance', '["x",{"minContextSlot":9007199254740993}]'))).toBe(
      9007199254740993n,
    );
    expect(minContextSlotOf(call('getBalance', '["x",{"minContextSlot":null}]'))).toBeNull();
    expect(minContextSlotOf(call('getBalance', '["x"]'))).toBeNull();
    expect(minContextSlotOf(call('getVersion', '[{"minContextSlot":1}]'))).toBeNull();
  });

  it('first param', () => {
    expect(firstSlotOf(Buffer.from(' [ 5 , {"x":1}]'))).toBe(5n);
    expect(firstSlotOf(Buffer.from('[5]'))).toBe(5n);
    expect(firstSlotOf(Buffer.from('["5"]'))).toBeNull();
    expect(firstSlotOf(null)).toBeNull();
  });
});

describe('slots in results', () => {
  it.each([
    ['{"context":{"apiVersion":"3.0.0","slot":18446744073709551615},"value":1}', 18_446_744_073_709_551_615n],
    ['{"context":{"slot":7},"value":{"context":{"slot":9}}}', 7n],
    ['{ "context" : { "slot" : 7 } , "value" : 1 }', 7n],
    ['{"value":{"slot":9},"context":{"slot":7}}', 7n],
    ['{"context":{"slot":"7"},"value":1}', null],
    ['{"context":{"slot":7.5},"value":1}', null],
    ['{"value":1,"context":{"slot":18446744073709551616}}', null],
    ['{"slot":7}', null],
    ['7', null],
    ['[]', null],
  ])('%s', (result, slot) => {
    expect(contextSlot(Buffer.from(result))).toBe(slot);
  });

  it('getSlot returns its result; methods without a slot return null', () => {
    expect(readObservedSlot(methods.getSlot, Buffer.from('7'))).toBe(7n);
    expect(readObservedSlot(methods.getBlockHeight, Buffer.from('7'))).toBeNull();
    expect(readObservedSlot(methods.getBalance, Buffer.from('{"context":{"slot":7},"value":1}'))).toBe(7n);
  });

  it('members are read at the top level only', () => {
    expect(slotOfResult(Buffer.from('{"meta":{"slot":1},"slot":7}'), 'slot')).toBe(7n);
    expect(slotOfResult(Buffer.from('{"meta":{"slot":1}}'), 'slot')).toBeNull();
  });

  it('a list returns its newest slot if every item has one', () => {
    const newest = (json: string) => newestSlotOf(Buffer.from(json), 'effectiveSlot');
    expect(newest('[{"effectiveSlot":7},{"effectiveSlot":9},{"effectiveSlot":8}]')).toBe(9n);
    expect([newest('[{"effectiveSlot":7},null]'), newest('[]'), newest('[{}]')]).toEqual([null, null, null]);
  });
});
