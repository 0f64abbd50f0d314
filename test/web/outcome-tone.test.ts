import { expect, it } from 'vitest';
import { changeTone, successTone } from '../../web/src/outcome-tone.ts';

it('a success rate is colored by how many requests fail', () => {
  expect([null, 1, 0.99, 0.989, 0.95, 0.949, 0.003, 0].map(successTone)).toEqual([
    ...[undefined, undefined, undefined, 'warn', 'warn'],
    ...['bad', 'bad', 'bad'],
  ]);
});

it('a lower latency is good news only if requests succeed; a higher one is never good', () => {
  const tones = [true, false].map((canBeGood) =>
    [-5, 0, 5].map((difference) => changeTone({ difference, good: 'down', canBeGood })),
  );
  expect(tones).toEqual([
    ['good', undefined, 'bad'],
    [undefined, undefined, 'bad'],
  ]);
  expect(changeTone({ difference: 5, good: null })).toBeUndefined();
});
