import { useMemo } from 'react';
import type uPlot from 'uplot';
import { formatCount, formatMs } from '../format.ts';
import { ChartFrame } from './chart-frame.tsx';
import type { Paint } from './paint.ts';
import type { PlotSpec } from './plot-spec.ts';
import {
  type ChartProps,
  formatStep,
  isFlat,
  type Series,
  startsOf,
  stepAt,
  summarize,
  type TimeAxis,
} from './series.ts';

export type HeatMapProps = Omit<ChartProps, 'series' | 'format'> &
  Readonly<{
    boundsMs: readonly number[];
    counts: readonly (readonly number[])[];
  }>;

type Rows = Readonly<{ bounds: readonly number[]; counts: readonly (readonly number[])[] }>;

const nameOf = (bounds: readonly number[], row: number): string => {
  const bound = bounds[row];
  const below = bounds[row - 1];
  if (bound !== undefined && Number.isFinite(bound)) return `up to ${formatMs(bound)}`;
  return below === undefined ? 'any' : `more than ${formatMs(below)}`;
};

/** Drops empty rows at both ends. */
function usedRows({ boundsMs, counts }: Pick<HeatMapProps, 'boundsMs' | 'counts'>): Rows {
  const used = counts.map((row) => row.some((count) => count > 0));
  const first = used.indexOf(true);
  if (first < 0) return { bounds: boundsMs, counts };
  const from = Math.max(0, first - 1);
  const to = Math.min(counts.length, used.lastIndexOf(true) + 2);
  return { bounds: boundsMs.slice(from, to), counts: counts.slice(from, to) };
}

/** Minimum opacity of a non-empty cell. */
const ALPHA_MIN = 0.14;

function drawCells(plot: uPlot, paint: Paint, axis: TimeAxis, { counts }: Rows): void {
  const most = Math.max(1, ...counts.flat());
  const { ctx } = plot;
  ctx.save();
  ctx.fillStyle = paint.of('--series-1');
  counts.forEach((row, at) => {
    const [bottom, top] = [plot.valToPos(at, 'y', true), plot.valToPos(at + 1, 'y', true)];
    row.forEach((count, step) => {
      if (count === 0) return;
      const left = plot.valToPos(axis.from + step * axis.stepMs, 'x', true);
      const right = plot.valToPos(axis.from + (step + 1) * axis.stepMs, 'x', true);
      ctx.globalAlpha = ALPHA_MIN + (1 - ALPHA_MIN) * (Math.log1p(count) / Math.log1p(most));
      ctx.fillRect(left, top, Math.max(1, right - left - 1), Math.max(1, bottom - top - 1));
    });
  });
  ctx.restore();
}

const TICKS_MAX = 8;

function specOf(axis: TimeAxis, rows: Rows): PlotSpec {
  const starts = startsOf(axis);
  const number = rows.counts.length;
  const every = Math.max(1, Math.ceil(number / TICKS_MAX));
  return {
    shape: `heat ${number}`,
    data: [starts, starts.map(() => null)],
    xRange: [axis.from, axis.from + starts.length * axis.stepMs],
    yRange: () => [0, Math.max(1, number)],
    ySplits: () => Array.from({ length: Math.floor(number / every) + 1 }, (_, index) => index * every),
    tick: (row) => {
      const bound = rows.bounds[row - 1];
      return bound === undefined || !Number.isFinite(bound) ? '' : formatMs(bound);
    },
    series: () => [{ points: { show: false } }],
    draw: (plot, paint) => drawCells(plot, paint, axis, rows),
  };
}

export function HeatMap(props: HeatMapProps) {
  const { axis, boundsMs, counts } = props;
  const rows = useMemo(() => usedRows({ boundsMs, counts }), [boundsMs, counts]);
  const spec = useMemo(() => specOf(axis, rows), [axis, rows]);
  const series = useMemo<Series[]>(
    () =>
      rows.counts.map((values, row) => ({
        id: String(row),
        label: nameOf(rows.bounds, row),
        color: '--series-1',
        values,
      })),
    [rows],
  );
  const summary = isFlat(series)
    ? ''
    : summarize({ ...props, series: series.filter((one) => !isFlat([one])) }, 'counted');
  return (
    <ChartFrame
      {...props}
      series={series}
      spec={spec}
      summary={summary}
      legend={isFlat(series) ? null : <Scale />}
      tip={({ at, value }) => {
        const [step, row] = [stepAt(axis, at), Math.floor(value)];
        const count = step === null ? undefined : rows.counts[row]?.[step];
        if (step === null || count === undefined) return null;
        return (
          <>
            <p className="plot-tip-title">{formatStep(axis.from + step * axis.stepMs, axis.stepMs)} UTC</p>
            <p>
              {nameOf(rows.bounds, row)}: <strong>{formatCount(count)}</strong>{' '}
              {count === 1 ? 'request' : 'requests'}
            </p>
          </>
        );
      }}
    />
  );
}

const Scale = () => (
  <p className="heat-scale">
    {' '}
    Fewer
    <svg width="72" height="10" viewBox="0 0 72 10" aria-hidden="true" focusable="false">
      {[0.14, 0.3, 0.45, 0.6, 0.8, 1].map((opacity, index) => (
        <rect key={opacity} x={index * 12} width="11" height="10" opacity={opacity} />
      ))}
    </svg>
    More requests
  </p>
);
