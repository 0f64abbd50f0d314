import { type ReactNode, useMemo } from 'react';
import { formatCount, formatShort } from '../format.ts';
import { ChartFrame, StepTip } from './chart-frame.tsx';
import { fadeFrom, fromZero, type PlotSpec, pathsOf } from './plot-spec.ts';
import {
  type ChartProps,
  type Series,
  stack,
  startsOf,
  stepAt,
  stepsOf,
  summarize,
  type TimeAxis,
} from './series.ts';

export type BarsProps = ChartProps &
  Readonly<{ tick?: (value: number) => string; aside?: ReactNode; empty?: ReactNode; legend?: ReactNode }>;

const BAR_SHARE = 0.72;
const BAR_MAX_PX = 48;

function specOf(axis: TimeAxis, series: readonly Series[], tick: (value: number) => string): PlotSpec {
  const starts = startsOf(axis);
  const now = Date.now();
  const runningFrom =
    now < axis.to ? axis.from + Math.floor((now - axis.from) / axis.stepMs) * axis.stepMs : null;
  return {
    shape: series.map(({ id, color }) => `${id} ${color}`).join(),
    data: [starts.map((at) => at + axis.stepMs / 2), ...stack(series, stepsOf(axis)).toReversed()],
    xRange: [axis.from, axis.from + starts.length * axis.stepMs],
    yRange: fromZero(4),
    isWhole: true,
    tick,
    series: (paint, plots) =>
      series.toReversed().map(({ label, color }) => ({
        label,
        fill: paint.of(color),
        width: 0,
        points: { show: false },
        ...pathsOf(plots.paths.bars?.({ size: [BAR_SHARE, BAR_MAX_PX, 1], align: 0 })),
      })),
    draw: (plot, paint) => {
      if (runningFrom !== null) fadeFrom(plot, runningFrom, paint);
    },
  };
}

export function Bars(props: BarsProps) {
  const { axis, series, format = formatCount, tick = formatShort } = props;
  const spec = useMemo(() => specOf(axis, series, tick), [axis, series, tick]);
  return (
    <ChartFrame
      {...props}
      spec={spec}
      summary={summarize(props, 'counted')}
      tip={({ at }) => {
        const step = stepAt(axis, at);
        if (step === null) return null;
        const rows = series.map(({ id, label, color, values }) => ({
          id,
          label,
          color,
          value: values[step] ?? 0,
        }));
        const total = rows.reduce((sum, { value }) => sum + value, 0);
        return (
          <StepTip
            at={axis.from + step * axis.stepMs}
            stepMs={axis.stepMs}
            rows={rows.toReversed()}
            total={total}
            format={format}
          />
        );
      }}
    />
  );
}
