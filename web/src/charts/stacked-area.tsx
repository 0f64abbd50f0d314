import { type ReactNode, useMemo } from 'react';
import { formatCount, formatShort } from '../format.ts';
import { ChartFrame, StepTip } from './chart-frame.tsx';
import { Legend, useSeriesVisibility } from './legend.tsx';
import { fadeFrom, fromZero, type PlotSpec, pathsOf } from './plot-spec.ts';
import {
  type ChartProps,
  isFlat,
  type Series,
  stack,
  startsOf,
  stepAt,
  stepsOf,
  summarize,
  type TimeAxis,
} from './series.ts';

export type { Series, TimeAxis } from './series.ts';

export type StackedAreaProps = ChartProps &
  Readonly<{
    tick?: (value: number) => string;
    aside?: ReactNode;
    empty?: ReactNode;
  }>;

function specOf(axis: TimeAxis, visible: readonly Series[], tick: (value: number) => string): PlotSpec {
  const steps = stepsOf(axis);
  const starts = startsOf(axis);
  // Extends the last step; otherwise it would have no width.
  const times = [...starts, axis.from + steps * axis.stepMs];
  const sums = stack(visible, steps).map((values) => [...values, values.at(-1) ?? 0]);
  const runningFrom = Date.now() < axis.to + axis.stepMs ? starts.at(-1) : undefined;
  return {
    shape: visible.map(({ id, color }) => `${id} ${color}`).join(),
    data: [times, ...sums.toReversed()],
    xRange: [axis.from, axis.from + steps * axis.stepMs],
    yRange: fromZero(4),
    isWhole: true,
    tick,
    series: (paint, plots) =>
      visible.toReversed().map(({ label, color }) => ({
        label,
        fill: paint.of(color),
        stroke: paint.sheet,
        width: 0.5,
        points: { show: false },
        ...pathsOf(plots.paths.stepped?.({ align: 1 })),
      })),
    draw: (plot, paint) => {
      if (runningFrom !== undefined) fadeFrom(plot, runningFrom, paint);
    },
  };
}

export function StackedArea(props: StackedAreaProps) {
  const { axis, series, format = formatCount, tick = formatShort } = props;
  const hidden = useSeriesVisibility(series);
  const { visible } = hidden;
  const spec = useMemo(() => specOf(axis, visible, tick), [axis, visible, tick]);

  return (
    <ChartFrame
      {...props}
      series={visible}
      tableSeries={withSum(series, axis)}
      spec={spec}
      summary={summarize(props, 'counted')}
      legend={isFlat(series) ? null : <Legend series={series} hidden={hidden} />}
      tip={({ at }) => {
        const step = stepAt(axis, at);
        if (step === null || isFlat(visible)) return null;
        const rows = visible
          .map(({ id, label, color, values }) => ({ id, label, color, value: values[step] ?? 0 }))
          .toReversed();
        const total = rows.reduce((sum, { value }) => sum + value, 0);
        return (
          <StepTip
            at={axis.from + step * axis.stepMs}
            stepMs={axis.stepMs}
            rows={rows}
            total={total}
            format={format}
          />
        );
      }}
    />
  );
}

function withSum(series: readonly Series[], axis: TimeAxis): readonly Series[] {
  if (series.length < 2) return series;
  const values = stack(series, stepsOf(axis)).at(-1) ?? [];
  return [...series, { id: 'sum', label: 'Total', color: '--ink-3', values }];
}
