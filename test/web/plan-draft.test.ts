import { expect, it } from 'vitest';
import { minorOf } from '../../web/src/pages/settings/plan-draft.ts';

it('amounts are converted with the digits of their currency', () => {
  expect(minorOf('4900', 'jpy', 'price')).toBe(4_900);
  expect(minorOf('4.9', 'kwd', 'price')).toBe(4_900);
  expect(minorOf('0.001', 'kwd', 'price')).toBe(1);
  expect(minorOf('', 'kwd', 'price')).toBe(0);
});

it('amounts with more digits than their currency has are rejected', () => {
  for (const [text, currency, example] of [
    ['49.5', 'jpy', '4900'],
    ['4.9001', 'kwd', '4.900'],
  ] as const)
    expect(() => minorOf(text, currency, 'price')).toThrow(
      expect.objectContaining({ fields: { price: `Enter an amount such as ${example}.` } }),
    );
});
