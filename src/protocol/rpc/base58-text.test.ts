import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase58Text } from './base58-text.ts';

describe('decodeBase58Text', () => {
  it.each([
    ['0', "InvalidCharacter { character: '0', index: 0 }"],
    ['\n', "InvalidCharacter { character: '\\n', index: 0 }"],
    ["'", "InvalidCharacter { character: '\\'', index: 0 }"],
    ['\\', "InvalidCharacter { character: '\\\\', index: 0 }"],
    ['\u0001', "InvalidCharacter { character: '\\u{1}', index: 0 }"],
    ['1é0', 'NonAsciiCharacter { index: 1 }'],
  ])('reports the first fault of %j like Rust', (text, fault) => {
    expect(decodeBase58Text(text)).toEqual({ fault });
  });

  it('returns bytes or a fault for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => {
        const decoded = decodeBase58Text(text);
        expect('bytes' in decoded).toBe(/^[1-9A-HJ-NP-Za-km-z]*$/.test(text));
      }),
    );
  });
});
