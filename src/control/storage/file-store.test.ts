import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMetadata, sanitizeMetadata, serializeMetadata } from './file-store.ts';

describe('client metadata of a file', () => {
  it.each([
    ['Image/PNG', 'image/png'],
    ['text/html; charset=utf-8', 'text/html; charset=utf-8'],
    ['png', 'application/octet-stream'],
    ['text/html\r\nset-cookie: a=b', 'application/octet-stream'],
    [`text/${'x'.repeat(200)}`, 'application/octet-stream'],
  ])('normalizes the type %j to %j', (given, expected) => {
    expect(sanitizeMetadata({ name: null, type: given }).type).toBe(expected);
  });

  it.each([
    ['../../etc/passwd', '....etcpasswd'],
    ['a\r\nb"c', 'ab"c'],
    ['gpj.\u202Eexe', 'gpj.exe'],
    ['..', null],
    [null, null],
  ])('normalizes the name %j to %j', (given, expected) => {
    expect(sanitizeMetadata({ name: given, type: '' }).name).toBe(expected);
  });

  it('round-trips through its serialized form', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), fc.string(), (name, type) => {
      const about = sanitizeMetadata({ name, type });
      expect(parseMetadata(serializeMetadata(about))).toEqual(about);
    });
    fc.assert(property, { numRuns: 50 });
  });

  it('is empty for any other text', () => {
    const nothing = { name: null, type: 'application/octet-stream' };
    for (const text of ['', '{', 'null', '[]', '{"name":1,"type":{}}', '"x"']) {
      expect(parseMetadata(text)).toEqual(nothing);
    }
  });
});
