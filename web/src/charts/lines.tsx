import { type ReactNode, useMemo } from 'react';
import { formatCount, formatShort } from '../format.ts';
import { ChartFrame, StepTip } from './chart-frame.tsx';
import { Legend, useSeriesVisibility } from './legend.tsx';
import { fromZero, type PlotSpec, pathsOf } from './plot-spec.ts';
import {
  type ChartProps,
  isFlat,
  isolatedSteps,
  type Series,
  startsOf,
  stepAt,
  summarize,
  type TimeAxis,
} from './series.ts';

export type LinesProps = ChartProps &
  Readonly<{
    /** Logarithmic scale, so that outliers do not flatten the rest. */
    isLog?: boolean;
    tick?: (value: number) => string;
    hiddenAtFirst?: readonly string[];
    aside?: ReactNode;
    empty?: ReactNode;
  }>;

const powersOfTenAround = (min: number | null, max: number | null): readonly [number, number] => [
  10 ** Math.floor(Math.log10(Math.max(min ?? 1, 0.01))),
  10 ** Math.ceil(Math.log10(Math.max(max ?? 10, 0.1) * 1.001)),
];

function specOf(
  axis: TimeAxis,
  visible: readonly Series[],
  isLog: boolean,
  tick: (value: number) => string,
): PlotSpec {
  const starts = startsOf(axis);
  return {
    shape: `${isLog} ${visible.map(({ id, color }) => `${id} ${color}`).join()}`,
    // Centered in the interval, because it was measured across it.
    data: [
      starts.map((at) => at + axis.stepMs / 2),
      ...visible.map(({ values }) => starts.map((_, step) => values[step] ?? null)),
    ],
    xRange: [axis.from, axis.from + starts.length * axis.stepMs],
    yRange: isLog ? powersOfTenAround : fromZero(1),
    isLog,
    // Only counts have these ticks.
    isWhole: tick === formatShort,
    tick,
    series: (paint, plots) =>
      visible.map(({ label, color }) => ({
        label,
        stroke: paint.of(color),
        width: 1.75,
        ...pathsOf(plots.paths.linear?.()),
        points: {
          size: 4,
          fill: paint.of(color),
          stroke: paint.of(color),
          // Isolated points stay visible where points are too dense to draw.
          filter: (plot, at, areAllVisible) => (areAllVisible ? null : isolatedSteps(plot.data[at] ?? [])),
        },
      })),
  };
}

export function Lines(props: LinesProps) {
  const { axis, series, format = formatCount, tick = formatShort, isLog = false, hiddenAtFirst } = props;
  const hidden = useSeriesVisibility(series, hiddenAtFirst);
  const { visible } = hidden;
  const spec = useMemo(() => specOf(axis, visible, isLog, tick), [axis, visible, isLog, tick]);

  return (
    <ChartFrame
      {...props}
      series={visible}
      tableSeries={series}
      spec={spec}
      summary={summarize(props, 'measured')}
      legend={isFlat(series) ? null : <Legend series={series} hidden={hidden} />}
      tip={({ at }) => {
        const step = stepAt(axis, at);
        if (step === null || isFlat(visible)) return null;
        const rows = visible.map(({ id, label, color, values }) => ({
          id,
          label,
          color,
          value: values[step] ?? null,
        }));
        return (
          <StepTip
            at={axis.from + step * axis.stepMs}
            stepMs={axis.stepMs}
            rows={rows.toReversed()}
            format={format}
          />
        );
      }}
    />
  );
}
