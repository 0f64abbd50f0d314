import { useMemo } from 'react';
import { formatCount, formatShort } from '../format.ts';
import { ChartFrame, StepTip } from './chart-frame.tsx';
import { fromZero, type PlotSpec } from './plot-spec.ts';
import { type ChartProps, type Series, startsOf, stepAt, summarize, type TimeAxis } from './series.ts';
import { Swatch } from './swatch.tsx';

const DAY_MS = 86_400_000;

export type QuotaLineProps = Readonly<{
  title: string;
  periodFrom: number;
  periodTo: number;
  days: readonly Readonly<{ day: number; credits: number }>[];
  limit: number | null;
  projected: number | null;
  csvName?: string;
}>;

/** Quota shares that trigger notifications, besides 100%. */
const MARKS = [0.8, 0.95] as const;

function seriesOf({ periodFrom, periodTo, days, limit, projected }: QuotaLineProps): Series[] {
  const steps = Math.round((periodTo - periodFrom) / DAY_MS);
  const now = Date.now();
  const today = Math.min(steps - 1, Math.max(0, Math.floor((now - periodFrom) / DAY_MS)));
  const byDay = new Map(days.map(({ day, credits }) => [Math.floor((day - periodFrom) / DAY_MS), credits]));
  let sum = 0;
  const used = Array.from({ length: steps }, (_, day) => {
    sum += byDay.get(day) ?? 0;
    return day <= today ? sum : null;
  });
  const left = steps - 1 - today;
  const ahead = used.map((_, day) => {
    if (projected === null || day < today) return null;
    return left === 0 ? sum : Math.round(sum + ((projected - sum) * (day - today)) / left);
  });
  return [
    { id: 'used', label: 'Used', color: '--series-1', values: used },
    ...(projected === null
      ? []
      : [{ id: 'ahead', label: 'Projected', color: '--series-2', values: ahead } as const]),
    ...(limit === null
      ? []
      : [{ id: 'quota', label: 'Quota', color: '--bad', values: used.map(() => limit) } as const]),
  ];
}

function specOf(axis: TimeAxis, series: readonly Series[], limit: number | null): PlotSpec {
  return {
    shape: series.map(({ id }) => id).join(),
    data: [startsOf(axis).map((at) => at + axis.stepMs / 2), ...series.map(({ values }) => [...values])],
    xRange: [axis.from, axis.to],
    yRange: fromZero(limit ?? 10),
    isWhole: true,
    tick: formatShort,
    series: (paint) =>
      series.map(({ id, label, color }) => ({
        label,
        stroke: paint.of(color),
        width: id === 'used' ? 2 : 1.5,
        points: { show: id === 'used', size: 4, fill: paint.of(color) },
        ...(id === 'used' ? { fill: `color-mix(in srgb, ${paint.of(color)} 16%, transparent)` } : {}),
        ...(id === 'ahead' ? { dash: [5, 4] } : {}),
      })),
    draw: (plot, paint) => {
      if (limit === null) return;
      const { ctx, bbox } = plot;
      ctx.save();
      ctx.strokeStyle = paint.of('--warn');
      ctx.globalAlpha = 0.6;
      ctx.setLineDash([2, 4]);
      for (const mark of MARKS) {
        const y = plot.valToPos(limit * mark, 'y', true);
        ctx.beginPath();
        ctx.moveTo(bbox.left, y);
        ctx.lineTo(bbox.left + bbox.width, y);
        ctx.stroke();
      }
      ctx.restore();
    },
  };
}

export function QuotaLine(props: QuotaLineProps) {
  const { title, periodFrom, periodTo, days, limit, projected } = props;
  const axis = useMemo<TimeAxis>(
    () => ({ from: periodFrom, to: periodTo, stepMs: DAY_MS }),
    [periodFrom, periodTo],
  );
  const series = useMemo(
    () => seriesOf({ title, periodFrom, periodTo, days, limit, projected }),
    [title, periodFrom, periodTo, days, limit, projected],
  );
  const spec = useMemo(() => specOf(axis, series, limit), [axis, series, limit]);
  const chart: ChartProps = { title, axis, series };
  return (
    <ChartFrame
      {...chart}
      {...(props.csvName === undefined ? {} : { csvName: props.csvName })}
      spec={spec}
      summary={summarize(chart, 'measured')}
      legend={
        <ul className="legend">
          {series.map(({ id, label, color }) => (
            <li key={id} className="legend-still">
              <Swatch color={color} />
              {label}
            </li>
          ))}
          {limit === null ? null : (
            <li className="legend-still muted">Dotted lines: notifications at 80% and 95%</li>
          )}
        </ul>
      }
      tip={({ at }) => {
        const step = stepAt(axis, at);
        if (step === null) return null;
        const rows = series.map(({ id, label, color, values }) => ({
          id,
          label,
          color,
          value: values[step] ?? null,
        }));
        return (
          <StepTip
            at={axis.from + step * axis.stepMs}
            stepMs={axis.stepMs}
            rows={rows.filter(({ value }) => value !== null)}
            format={formatCount}
          />
        );
      }}
    />
  );
}
