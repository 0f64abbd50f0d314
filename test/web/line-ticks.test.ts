import { expect, it } from 'vitest';
import { lineSpec } from '../../web/src/charts/lines.tsx';
import { formatMsTick, formatShort } from '../../web/src/format.ts';

it('a line chart whose ticks are rounded has whole ticks only, so that none repeats', () => {
  const axis = { from: 0, to: 60_000, stepMs: 60_000 };
  const isWhole = [formatShort, formatMsTick].map((tick) => lineSpec(axis, [], false, tick).isWhole);
  expect(isWhole).toEqual([true, false]);
});
