import { formatCount, formatTime } from '../format.ts';

export type Series = Readonly<{
  id: string;
  label: string;
  color: `--${string}`;
  /** One value per step; null where there is no data. */
  values: readonly (number | null)[];
}>;

export type TimeAxis = Readonly<{ from: number; to: number; stepMs: number }>;

export type ChartProps = Readonly<{
  title: string;
  axis: TimeAxis;
  series: readonly Series[];
  format?: (value: number) => string;
  height?: number;
  csvName?: string;
  onZoom?: (from: number, to: number) => void;
}>;

const seriesColors = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `--series-${number}` as const);

export const seriesColor = (index: number): `--${string}` =>
  seriesColors[index % seriesColors.length] ?? '--series-1';

export const stepsOf = ({ from, to, stepMs }: TimeAxis): number =>
  Math.max(1, Math.ceil((to - from) / stepMs));

export const startsOf = (axis: TimeAxis): number[] =>
  Array.from({ length: stepsOf(axis) }, (_, step) => axis.from + step * axis.stepMs);

export const isFlat = (series: readonly Series[]): boolean =>
  series.every(({ values }) => values.every((value) => value === null || value === 0));

/** Steps with data but no adjacent data: no line reaches them. */
export const isolatedSteps = (values: ArrayLike<number | null | undefined>): number[] =>
  Array.from(values, (_, step) => step).filter(
    (step) => isMeasured(values[step]) && !isMeasured(values[step - 1]) && !isMeasured(values[step + 1]),
  );

const isMeasured = (value: number | null | undefined): boolean => value !== null && value !== undefined;

export function stack(series: readonly Series[], steps: number): number[][] {
  const sum = new Array<number>(steps).fill(0);
  return series.map(({ values }) => {
    for (let step = 0; step < steps; step++) sum[step] = (sum[step] ?? 0) + (values[step] ?? 0);
    return [...sum];
  });
}

export function stepAt(axis: TimeAxis, at: number): number | null {
  const step = Math.floor((at - axis.from) / axis.stepMs);
  return step >= 0 && step < stepsOf(axis) ? step : null;
}

export const wholeSteps = (axis: TimeAxis, from: number, to: number): [from: number, to: number] => [
  axis.from + Math.floor((from - axis.from) / axis.stepMs) * axis.stepMs,
  axis.from + Math.ceil((to - axis.from) / axis.stepMs) * axis.stepMs,
];

const DAY_MS = 86_400_000;

export const formatStep = (at: number, stepMs: number): string =>
  stepMs >= DAY_MS ? formatTime(at).slice(0, 10) : formatTime(at).slice(0, stepMs < 60_000 ? 19 : 16);

export function summarize(
  { title, axis, series, format = formatCount }: ChartProps,
  kind: 'counted' | 'measured',
): string {
  const intro = `${title}, from ${formatTime(axis.from)} to ${formatTime(axis.to)} UTC.`;
  if (isFlat(series)) return `${intro} No data in this time range.`;
  const sentences = series.map(({ label, values }) => {
    const measuredValues = values.filter((value) => value !== null);
    const [least, most] = [Math.min(...measuredValues), Math.max(...measuredValues)];
    if (measuredValues.length === 0) return `${label}: no data.`;
    const when = formatStep(axis.from + values.indexOf(most) * axis.stepMs, axis.stepMs);
    const range = least === most ? format(least) : `${format(least)} to ${format(most)}`;
    if (kind === 'measured') return `${label}: ${range}, last ${format(measuredValues.at(-1) ?? 0)}.`;
    const sum = measuredValues.reduce((all, value) => all + value, 0);
    return `${label}: ${format(sum)} total, peak ${format(most)} at ${when}.`;
  });
  return `${intro} ${sentences.join(' ')}`;
}
