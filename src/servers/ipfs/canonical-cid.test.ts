import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalCid } from './canonical-cid.ts';

const FILE = 'bafybeig3tekvo6icfwhptbbtr5vlcn77vkjfsz4t2zpb7prqrhqgwrtwei';

describe('canonicalCid', () => {
  // The first: rest-api.md §6.
  it.each([
    [
      'Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD',
      'bafybeihykld7uyxzogax6vgyvag42y7464eywpf55gxi5qpoisibh3c5wa',
    ],
    [FILE, FILE],
    [FILE.toUpperCase(), FILE],
  ])('maps %s to %s', (text, canonical) => {
    expect(canonicalCid(text)).toBe(canonical);
  });

  it.each(['', '..', 'index.html', 'Qm', `${FILE}x`, `${FILE}/..`, '%2e%2e', 'z', 'b', FILE.repeat(20)])(
    'rejects %s',
    (text) => {
      expect(canonicalCid(text)).toBeNull();
    },
  );

  it('returns no path separators for any input', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[bzkfBuQ][\w-]*$/));
    const property = fc.property(text, (input) => {
      const found = canonicalCid(input);
      if (found !== null) expect(found).toMatch(/^b[a-z2-7]+$/);
    });
    fc.assert(property);
  });
});
