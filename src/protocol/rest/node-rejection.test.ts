import { expect, it } from 'vitest';
import { NodeRejection } from './node-rejection.ts';

it('passes an error of a node on unchanged', () => {
  const error = { code: -32002, message: 'Blockhash not found', data: { logs: ['a'], fee: 2n ** 64n - 1n } };
  expect(new NodeRejection(error).error).toEqual(error);
});

it('truncates the message to 1,000 characters without splitting one', () => {
  const words = `${'x'.repeat(999)}😀`;
  const { error } = new NodeRejection({ code: 1, message: words.repeat(1_000) });
  expect(error).toEqual({ code: 1, message: `${'x'.repeat(999)}\uFFFD` });
});

it('drops data above 16 KiB', () => {
  const dataLength = (length: number) =>
    new NodeRejection({ code: 1, message: 'no', data: 'x'.repeat(length) }).error.data?.toString().length;
  expect([dataLength(16_382), dataLength(16_383)]).toEqual([16_382, undefined]);
  expect(new NodeRejection({ code: 1, message: 'no', data: 'é'.repeat(8_192) }).error).toEqual({
    code: 1,
    message: 'no',
  });
});
