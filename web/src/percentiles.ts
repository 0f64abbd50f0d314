import type { Series } from './charts/series.ts';

const percentiles = [
  { id: 'p50', color: '--series-1' },
  { id: 'p95', color: '--series-2' },
  { id: 'p99', color: '--series-4' },
] as const;

export const percentileSeries = (
  values: Readonly<Record<(typeof percentiles)[number]['id'], Series['values']>>,
): Series[] => percentiles.map(({ id, color }) => ({ id, label: id, color, values: values[id] }));
