import { describe, expect, it } from 'vitest';
import { slot } from '../../solana/units.ts';
import { withMinContextSlot } from './with-min-context-slot.ts';

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
