import { describe, expect, it } from 'vitest';
import { methods } from '../../protocol/methods.ts';
import { contextSlot, newestSlotOf, readObservedSlot, slotOfResult } from './observed-slot.ts';

describe('the slot of a result', () => {
  it.each([
    ['{"context":{"apiVersion":"3.0.0","slot":18446744073709551615},"value":1}', 18_446_744_073_709_551_615n],
    ['{"context":{"slot":7},"value":{"context":{"slot":9}}}', 7n],
    ['{ "context" : { "slot" : 7 } , "value" : 1 }', 7n],
    ['{"value":{"slot":9},"context":{"slot":7}}', 7n],
    ['{"context":{"apiVersion":"slot"},"value":1}', null],
    ['{"context":{"slot":"7"},"value":1}', null],
    ['{"context":{"slot":7.5},"value":1}', null],
    ['{"value":1,"context":{"slot":18446744073709551616}}', null],
    ['{"context":[7]}', null],
    ['{"slot":7}', null],
    ['7', null],
    ['[]', null],
  ])('%s', (result, slot) => {
    expect(contextSlot(Buffer.from(result))).toBe(slot);
  });

  it('is the result itself of getSlot, and nothing where a method says none', () => {
    expect(readObservedSlot(methods.getSlot, Buffer.from('7'))).toBe(7n);
    expect(readObservedSlot(methods.getBlockHeight, Buffer.from('7'))).toBeNull();
    expect(readObservedSlot(methods.getBalance, Buffer.from('{"context":{"slot":7},"value":1}'))).toBe(7n);
  });

  it('is that of a member of the result, and not of what is inside it', () => {
    expect(slotOfResult(Buffer.from('{"meta":{"slot":1},"slot":7}'), 'slot')).toBe(7n);
    expect(slotOfResult(Buffer.from('{"meta":{"slot":1}}'), 'slot')).toBeNull();
  });

  it('is the newest of a list, if each of it says one', () => {
    const newest = (json: string) => newestSlotOf(Buffer.from(json), 'effectiveSlot');
    expect(newest('[{"effectiveSlot":7},{"effectiveSlot":9},{"effectiveSlot":8}]')).toBe(9n);
    expect([newest('[{"effectiveSlot":7},null]'), newest('[]'), newest('[{}]')]).toEqual([null, null, null]);
  });
});
