import { expect, it } from 'vitest';
import { LastValueCache } from './last-value-cache.ts';

it('gives the text of the bytes, whatever came before', () => {
  const last = new LastValueCache();
  const texts = ['a', 'a', 'b', '', 'bb', 'b', 'x'.repeat(600), 'x'.repeat(600), 'b', '\xff\x00', ''];
  for (const text of texts) {
    const bytes = Buffer.from(`-${text}-`, 'latin1');
    expect(last.of(bytes, 1, bytes.length - 1)).toBe(text);
  }
});

it('keeps no hold of the bytes', () => {
  const last = new LastValueCache();
  const bytes = Buffer.from('first');
  last.of(bytes, 0, 5);
  bytes.write('other');
  expect([last.of(bytes, 0, 5), last.of(Buffer.from('first'), 0, 5)]).toEqual(['other', 'first']);
});
