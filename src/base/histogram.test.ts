import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bucketEnd, bucketOf, createHistogram, Histograms, mergeHistogram, quantile } from './histogram.ts';

describe('histogram', () => {
  it('puts a duration into the bucket that contains it', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 2 ** 26, noNaN: true }), (micros) => {
        const bucket = bucketOf(micros);
        expect(micros).toBeLessThan(bucketEnd(bucket));
        if (bucket > 0) expect(micros).toBeGreaterThanOrEqual(bucketEnd(bucket - 1));
      }),
    );
  });

  it('returns quantiles at most 25 % too high', () => {
    const counts = createHistogram();
    for (let micros = 1_000; micros <= 100_000; micros += 100) {
      counts[bucketOf(micros)] = (counts[bucketOf(micros)] as number) + 1;
    }
    for (const [share, truth] of [
      [0.5, 50_500],
      [0.99, 99_010],
    ] as const) {
      expect(quantile(counts, share)).toBeGreaterThanOrEqual(truth);
      expect(quantile(counts, share)).toBeLessThanOrEqual(truth * 1.25);
    }
    expect(quantile(createHistogram(), 0.5)).toBeNull();
  });

  it('merges with another histogram', () => {
    const [one, other] = [createHistogram(), createHistogram()];
    one[3] = 2;
    other[3] = 5;
    other[7] = 1;
    mergeHistogram(one, other);
    expect([one[3], one[7]]).toEqual([7, 1]);
  });
});

it('histogram rows count separately while rows are added', () => {
  const many = new Histograms(2);
  const alone = Array.from({ length: 9 }, createHistogram);
  for (const counts of alone) {
    const row = many.addRow();
    expect(alone[row]).toBe(counts);
    for (let before = 0; before <= row; before++) {
      const micros = 1_000 * before + row;
      many.count(before, micros);
      alone[before]![bucketOf(micros)]! += 1;
    }
  }
  expect(alone.map((_, row) => many.at(row))).toEqual(alone);
});
