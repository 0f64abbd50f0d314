import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReedSolomon } from './reed-solomon.ts';

function encoded(data: readonly Uint8Array[], numCode: number): Uint8Array[] {
  const code = Array.from({ length: numCode }, () => new Uint8Array(data[0]!.length));
  new ReedSolomon(data.length, numCode).encode(
    data,
    code.map((_, i) => i),
    code,
  );
  return code;
}

describe('Reed-Solomon', () => {
  it('matches the parity of reed-solomon-erasure', () => {
    const [a, b] = [Uint8Array.of(1, 0, 0x80, 0x53), Uint8Array.of(0, 1, 0x80, 0xca)];
    // Over GF(2^8) with 0x11d: 3 · 0x80 = 0x9d, 2 · 0x80 = 0x1d; 3 · 0x53 = 0xf5, 2 · 0xca = 0x89.
    expect(encoded([a, b], 1)).toEqual([Uint8Array.of(3, 2, 0x80, 0xf5 ^ 0x89)]);
    expect(encoded([a], 3)).toEqual([a, a, a]);
  });

  it('restores data from any sufficient shreds', () => {
    const shape = fc
      .integer({ min: 1, max: 40 })
      .chain((numData) =>
        fc.tuple(
          fc.constant(numData),
          fc.integer({ min: 0, max: 40 }),
          fc.integer({ min: 1, max: 70 }),
          fc.infiniteStream(fc.nat(255)),
          fc.infiniteStream(fc.nat()),
        ),
      );
    fc.assert(
      fc.property(shape, ([numData, numCode, length, bytes, order]) => {
        const data = Array.from({ length: numData }, () =>
          Uint8Array.from({ length }, () => bytes.next().value as number),
        );
        const shards: (Uint8Array | null)[] = [...data, ...encoded(data, numCode)];
        const lost = shards
          .map((_, i) => [order.next().value as number, i] as const)
          .toSorted(([x], [y]) => x - y)
          .slice(0, numCode);
        for (const [, i] of lost) shards[i] = null;
        expect(new ReedSolomon(numData, numCode).recoverData(shards)).toEqual(data);
      }),
      { numRuns: 60 },
    );
  });

  it('supports 256 shards and returns null with one too few', () => {
    const data = Array.from({ length: 128 }, (_, i) => Uint8Array.of(i, 255 - i));
    const code = encoded(data, 128);
    const none = data.map(() => null);
    const codec = new ReedSolomon(128, 128);
    expect(codec.recoverData([...none, ...code])).toEqual(data);
    expect(codec.recoverData([...none, null, ...code.slice(1)])).toBeNull();
    expect(() => new ReedSolomon(128, 129)).toThrow(RangeError);
    expect(() => new ReedSolomon(0, 1)).toThrow(RangeError);
  });
});
