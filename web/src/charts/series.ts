import { formatCount, formatTime } from '../format.ts';

/** One series of a chart with time on its x axis. */
export type Series = Readonly<{
  id: string;
  label: string;
  /** A custom property of tokens.css: `--status-ok`. */
  color: `--${string}`;
  /** One value a step; null where nothing was measured. */
  values: readonly (number | null)[];
}>;

/** Equal steps of time. Unix milliseconds. */
export type TimeAxis = Readonly<{ from: number; to: number; stepMs: number }>;

/** What every chart over time has. */
export type ChartProps = Readonly<{
  /** Names the chart for screen readers and for its table. */
  title: string;
  axis: TimeAxis;
  /** Of charts that stack: from the bottom up. */
  series: readonly Series[];
  format?: (value: number) => string;
  /** CSS pixels; the width is what there is. */
  height?: number;
  /** Name of the file of its table, without its end. */
  csvName?: string;
  /** A stretch was drawn over with the mouse. */
  onZoom?: (from: number, to: number) => void;
}>;

const seriesColors = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `--series-${number}` as const);

/** The colour of the n-th series without a meaning of its own. */
export const seriesColor = (index: number): `--${string}` =>
  seriesColors[index % seriesColors.length] ?? '--series-1';

/** Steps that an axis has. */
export const stepsOf = ({ from, to, stepMs }: TimeAxis): number =>
  Math.max(1, Math.ceil((to - from) / stepMs));

/** When each step begins. */
export const startsOf = (axis: TimeAxis): number[] =>
  Array.from({ length: stepsOf(axis) }, (_, step) => axis.from + step * axis.stepMs);

/** Whether there is anything to draw. */
export const isFlat = (series: readonly Series[]): boolean =>
  series.every(({ values }) => values.every((value) => value === null || value === 0));

/** Steps that were measured while none beside them was: no line leads there. */
export const isolatedSteps = (values: ArrayLike<number | null | undefined>): number[] =>
  Array.from(values, (_, step) => step).filter(
    (step) => isMeasured(values[step]) && !isMeasured(values[step - 1]) && !isMeasured(values[step + 1]),
  );

const isMeasured = (value: number | null | undefined): boolean => value !== null && value !== undefined;

/**
 * Series laid on one another: each with what is below it added. The last one is the sum of all.
 */
export function stack(series: readonly Series[], steps: number): number[][] {
  const sum = new Array<number>(steps).fill(0);
  return series.map(({ values }) => {
    for (let step = 0; step < steps; step++) sum[step] = (sum[step] ?? 0) + (values[step] ?? 0);
    return [...sum];
  });
}

/** The step in which a moment lies; null outside of the axis. */
export function stepAt(axis: TimeAxis, at: number): number | null {
  const step = Math.floor((at - axis.from) / axis.stepMs);
  return step >= 0 && step < stepsOf(axis) ? step : null;
}

/** A stretch widened to whole steps. */
export const wholeSteps = (axis: TimeAxis, from: number, to: number): [from: number, to: number] => [
  axis.from + Math.floor((from - axis.from) / axis.stepMs) * axis.stepMs,
  axis.from + Math.ceil((to - axis.from) / axis.stepMs) * axis.stepMs,
];

const DAY_MS = 86_400_000;

/** The beginning of a step as it is said: days by their date, finer steps with the time. */
export const formatStep = (at: number, stepMs: number): string =>
  stepMs >= DAY_MS ? formatTime(at).slice(0, 10) : formatTime(at).slice(0, stepMs < 60_000 ? 19 : 16);

/** What a chart shows, as sentences for who does not see it. `counted`: sums are told; else levels. */
export function summarize(
  { title, axis, series, format = formatCount }: ChartProps,
  kind: 'counted' | 'measured',
): string {
  const stretch = `${title}, from ${formatTime(axis.from)} to ${formatTime(axis.to)} UTC.`;
  if (isFlat(series)) return `${stretch} No data in this time range.`;
  const sentences = series.map(({ label, values }) => {
    const measuredValues = values.filter((value) => value !== null);
    const [least, most] = [Math.min(...measuredValues), Math.max(...measuredValues)];
    if (measuredValues.length === 0) return `${label}: no data.`;
    const when = formatStep(axis.from + values.indexOf(most) * axis.stepMs, axis.stepMs);
    if (kind === 'measured')
      return `${label}: ${format(least)} to ${format(most)}, last ${format(measuredValues.at(-1) ?? 0)}.`;
    const sum = measuredValues.reduce((all, value) => all + value, 0);
    return `${label}: ${format(sum)} total, peak ${format(most)} at ${when}.`;
  });
  return `${stretch} ${sentences.join(' ')}`;
}
