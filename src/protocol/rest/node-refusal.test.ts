import { expect, it } from 'vitest';
import { NodeRefusal } from './node-refusal.ts';

it("tells a node's error as it is", () => {
  const error = { code: -32002, message: 'Blockhash not found', data: { logs: ['a'], fee: 2n ** 64n - 1n } };
  expect(new NodeRefusal(error).error).toEqual(error);
});

it('tells the first 1,000 characters of long words, and never half of one', () => {
  const words = `${'x'.repeat(999)}😀`;
  const { error } = new NodeRefusal({ code: 1, message: words.repeat(1_000) });
  expect(error).toEqual({ code: 1, message: `${'x'.repeat(999)}\uFFFD` });
});

it('tells data of up to 16 KiB of JSON, and of more nothing', () => {
  const told = (length: number) =>
    new NodeRefusal({ code: 1, message: 'no', data: 'x'.repeat(length) }).error.data?.toString().length;
  expect([told(16_382), told(16_383)]).toEqual([16_382, undefined]);
  expect(new NodeRefusal({ code: 1, message: 'no', data: 'é'.repeat(8_192) }).error).toEqual({
    code: 1,
    message: 'no',
  });
});
