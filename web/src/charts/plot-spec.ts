import type uPlot from 'uplot';
import type { Paint } from './paint.ts';

/** Types only: the chart library loads with the first chart. */
export type PlotSpec = Readonly<{
  /** The plot is recreated when this key changes. */
  shape: string;
  data: uPlot.AlignedData;
  xRange: readonly [from: number, to: number];
  yRange: (min: number | null, max: number | null) => readonly [min: number, max: number];
  isLog?: boolean;
  /** Whether all values are whole numbers, so that ticks are too. */
  isWhole?: boolean;
  tick: (value: number) => string;
  ySplits?: () => readonly number[];
  series: (paint: Paint, plots: typeof uPlot) => uPlot.Series[];
  draw?: (plot: uPlot, paint: Paint) => void;
}>;

export const pathsOf = (paths: uPlot.Series.PathBuilder | undefined): Pick<uPlot.Series, 'paths'> =>
  paths === undefined ? {} : { paths };

const HEADROOM = 1.08;

export const fromZero =
  (least: number) =>
  (_: number | null, max: number | null): readonly [number, number] => [
    0,
    Math.max(least, (max ?? 0) * HEADROOM),
  ];

/** Fades the current interval: its values are incomplete. */
export function fadeFrom(plot: uPlot, at: number, paint: Paint): void {
  const { ctx, bbox } = plot;
  const left = Math.max(bbox.left, plot.valToPos(at, 'x', true));
  const right = bbox.left + bbox.width;
  if (left >= right) return;
  ctx.save();
  ctx.globalAlpha = 0.55;
  ctx.fillStyle = paint.sheet;
  ctx.fillRect(left, bbox.top, right - left, bbox.height);
  ctx.restore();
}
