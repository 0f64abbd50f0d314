import { describe, expect, it } from 'vitest';
import type { Call } from '../../protocol/call.ts';
import { methodRow } from '../../protocol/methods.ts';
import { commitmentOf, firstSlotOf, leadingContextSlot, minContextSlotOf } from './context-slot.ts';

const call = (method: string, params: string | null): Call => ({
  network: 'devnet',
  method,
  row: methodRow(method),
  params: params === null ? null : Buffer.from(params),
});

describe('the slot that an answer stands on', () => {
  it.each([
    ['{"context":{"slot":7},"value":1}', 7n],
    ['{"context":{"apiVersion":"2.1.0","slot":18446744073709551615},"value":null}', 18446744073709551615n],
    [' {"context":{"slot":7},"value":1}', null],
    ['{ "context" : { "slot" : 7 } , "value" : 1 }', 7n],
    ['{"value":{"context":{"slot":7}}}', null],
    ['{"context":{"slot":18446744073709551616},"value":1}', null],
    ['{"context":{"slot":-7},"value":1}', null],
    ['7', null],
  ])('of %s is %s', (result, slot) => {
    expect(leadingContextSlot(Buffer.from(result))).toBe(slot);
  });
});

describe('what a call says of slots', () => {
  it('is its commitment, finalized where it names none', () => {
    expect(commitmentOf(call('getBalance', '["x",{"commitment":"processed"}]'))).toBe('processed');
    expect(commitmentOf(call('getBalance', '["x",{"commitment" : "confirmed"}]'))).toBe('confirmed');
    expect(commitmentOf(call('getBalance', '["x"]'))).toBe('finalized');
    expect(commitmentOf(call('getBalance', null))).toBe('finalized');
    expect(commitmentOf(call('getSignatureStatuses', '[["x"]]'))).toBe('processed');
  });

  it('is the slot that whoever answers must have come to', () => {
    expect(minContextSlotOf(call('getBalance', '["x",{"minContextSlot":9007199254740993}]'))).toBe(
      9007199254740993n,
    );
    expect(minContextSlotOf(call('getBalance', '["x",{"minContextSlot":null}]'))).toBeNull();
    expect(minContextSlotOf(call('getBalance', '["x"]'))).toBeNull();
    expect(minContextSlotOf(call('getVersion', '[{"minContextSlot":1}]'))).toBeNull();
  });

  it('is the slot that it names first', () => {
    expect(firstSlotOf(Buffer.from(' [ 5 , {"x":1}]'))).toBe(5n);
    expect(firstSlotOf(Buffer.from('[5]'))).toBe(5n);
    expect(firstSlotOf(Buffer.from('["5"]'))).toBeNull();
    expect(firstSlotOf(null)).toBeNull();
  });
});
