import { expect, it } from 'vitest';
import { CredentialCache, LastValueCache } from './caller-reader.ts';

it('returns the cached credential for equal Authorization bytes only', () => {
  const credentials = new CredentialCache();
  const read = (value: string) => {
    const bytes = Buffer.from(`: ${value}\r\n`, 'latin1');
    return credentials.of(bytes, 2, bytes.length - 2);
  };
  const first = read('Bearer one-1234');
  expect(first.credential).toBe('one-1234');
  expect(read('Bearer one-1234')).toBe(first);
  // The same cache slot and length.
  expect(read('Bearer two-1234').credential).toBe('two-1234');
  expect(read('Bearer one-1234').credential).toBe('one-1234');
  expect(read('bearer one-1234').credential).toBe('one-1234');
  expect(read('Basic one-1234').credential).toBe(null);
  expect(read('').credential).toBe(null);
  expect(read('x').credential).toBe(null);
  const long = `Bearer ${'x'.repeat(300)}`;
  expect(read(long).credential).toBe('x'.repeat(300));
  expect(read(long)).not.toBe(read(long));
});

it('returns the text of the bytes after any earlier value', () => {
  const last = new LastValueCache();
  const texts = ['a', 'a', 'b', '', 'bb', 'b', 'x'.repeat(600), 'x'.repeat(600), 'b', '\xff\x00', ''];
  for (const text of texts) {
    const bytes = Buffer.from(`-${text}-`, 'latin1');
    expect(last.of(bytes, 1, bytes.length - 1)).toBe(text);
  }
});

it('copies the bytes that it caches', () => {
  const last = new LastValueCache();
  const bytes = Buffer.from('first');
  last.of(bytes, 0, 5);
  bytes.write('other');
  expect([last.of(bytes, 0, 5), last.of(Buffer.from('first'), 0, 5)]).toEqual(['other', 'first']);
});
