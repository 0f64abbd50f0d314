import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalCid, hasTag, rangeOf } from './decode.ts';

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

describe('rangeOf', () => {
  it.each([
    ['bytes=0-4', 0, 5],
    ['bytes=5-', 5, 10],
    ['bytes=-3', 7, 10],
    ['bytes=0-999', 0, 10],
    ['bytes=-999', 0, 10],
    ['bytes=9-9', 9, 10],
    ['Bytes= 1-2', 1, 3],
  ])('reads %s of ten bytes as %d to %d (exclusive)', (header, start, end) => {
    expect(rangeOf(header, 10)).toEqual({ start, end });
  });

  it.each(['bytes=10-', 'bytes=10-11', 'bytes=-0', 'bytes=999999999999999-'])(
    'reports %s of ten bytes as unsatisfiable',
    (header) => {
      expect(rangeOf(header, 10)).toBe('unsatisfiable');
    },
  );

  it.each([undefined, 'bytes=-', 'bytes=5-4', 'items=0-1', 'bytes=0-1,3-4', '0-1', 'bytes=1'])(
    'ignores %s',
    (header) => {
      expect(rangeOf(header, 10)).toBeNull();
    },
  );

  it('ignores ranges of an empty file', () => {
    for (const header of ['bytes=0-', 'bytes=-5', 'bytes=3-4']) expect(rangeOf(header, 0)).toBeNull();
  });

  it('returns a range within the file for any header', () => {
    const header = fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `bytes=${a}-${b}`);
    const property = fc.property(fc.oneof(header, fc.string()), fc.nat(), (text, bytes) => {
      const range = rangeOf(text, bytes);
      if (range === null || range === 'unsatisfiable') return;
      expect(range.start).toBeGreaterThanOrEqual(0);
      expect(range.end).toBeLessThanOrEqual(bytes);
      expect(range.end).toBeGreaterThan(range.start);
    });
    fc.assert(property);
  });
});

describe('hasTag', () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
    [undefined, false],
  ])('of %s and "a" is %s', (header, has) => {
    expect(hasTag(header, '"a"')).toBe(has);
  });
});
