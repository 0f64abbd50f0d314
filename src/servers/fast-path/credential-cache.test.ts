import { expect, it } from 'vitest';
import { CredentialCache } from './credential-cache.ts';

it('A field Authorization shows the same as the last time while its bytes are the same, and never what another shows', () => {
  const credentials = new CredentialCache();
  const shown = (value: string) => {
    const bytes = Buffer.from(`: ${value}\r\n`, 'latin1');
    return credentials.of(bytes, 2, bytes.length - 2);
  };
  const first = shown('Bearer one-1234');
  expect(first.credential).toBe('one-1234');
  expect(shown('Bearer one-1234')).toBe(first);
  // The same place, and as long.
  expect(shown('Bearer two-1234').credential).toBe('two-1234');
  expect(shown('Bearer one-1234').credential).toBe('one-1234');
  expect(shown('bearer one-1234').credential).toBe('one-1234');
  expect([shown('Basic one-1234').credential, shown('').credential, shown('x').credential]).toEqual([
    null,
    null,
    null,
  ]);
  const long = `Bearer ${'x'.repeat(300)}`;
  expect(shown(long).credential).toBe('x'.repeat(300));
  expect(shown(long)).not.toBe(shown(long));
});
