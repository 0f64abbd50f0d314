import type uPlot from 'uplot';
import type { Paint } from './paint.ts';

/** What a plot draws. Only types of the library, which is loaded with the first chart. */
export type PlotSpec = Readonly<{
  /** Another word, another plot: everything of it that is no number. */
  shape: string;
  /** Times in Unix milliseconds, then the values of each series. */
  data: uPlot.AlignedData;
  xRange: readonly [from: number, to: number];
  yRange: (min: number | null, max: number | null) => readonly [min: number, max: number];
  isLog?: boolean;
  /** A mark of the y axis in words. */
  tick: (value: number) => string;
  ySplits?: () => readonly number[];
  series: (paint: Paint, plots: typeof uPlot) => uPlot.Series[];
  /** Draws over it. */
  draw?: (plot: uPlot, paint: Paint) => void;
}>;

/** The form of a series, where the library has one of that name. */
export const pathsOf = (paths: uPlot.Series.PathBuilder | undefined): Pick<uPlot.Series, 'paths'> =>
  paths === undefined ? {} : { paths };

/** Room above the highest value. */
const HEADROOM = 1.08;

/** From zero to a little over the highest value; counts have room for one at least. */
export const fromZero =
  (least: number) =>
  (_: number | null, max: number | null): readonly [number, number] => [
    0,
    Math.max(least, (max ?? 0) * HEADROOM),
  ];

/** Fades the step that is still running: its numbers grow. */
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
