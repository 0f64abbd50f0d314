import { lazy, type ReactNode, Suspense, useId, useMemo, useState } from 'react';
import { formatCount } from '../format.ts';
import { Button } from '../ui/button.tsx';
import { downloadText, toCsv } from '../ui/csv.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import type { PlotPoint } from './plot.tsx';
import type { PlotSpec } from './plot-spec.ts';
import { type ChartProps, formatStep, isFlat, type Series, startsOf, wholeSteps } from './series.ts';
import { SeriesTable } from './series-table.tsx';
import { Swatch } from './swatch.tsx';
import '../styles/charts.css';

/** Lazy, so that text does not wait for the chart library. */
const Plot = lazy(() => import('./plot.tsx').then(({ Plot }) => ({ default: Plot })));

const HEIGHT_PX = 220;

type FrameProps = ChartProps &
  Readonly<{
    spec: PlotSpec;
    summary: string;
    tableSeries?: readonly Series[];
    tip: (point: PlotPoint) => ReactNode;
    legend?: ReactNode;
    aside?: ReactNode;
    empty?: ReactNode;
  }>;

export function ChartFrame(props: FrameProps) {
  const { title, axis, series, spec, summary, tip, legend, aside, empty, onZoom } = props;
  const { height = HEIGHT_PX, format = formatCount, csvName, tableSeries = series } = props;
  const [isTable, setIsTable] = useState(false);
  const [point, setPoint] = useState<PlotPoint | null>(null);
  const id = useId();
  const zoom = useMemo(
    () =>
      onZoom === undefined ? undefined : (from: number, to: number) => onZoom(...wholeSteps(axis, from, to)),
    [onZoom, axis],
  );

  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption id={id} className="visually-hidden">
        {title}
      </figcaption>
      <div className="chart-head">
        <div className="chart-legend">{legend}</div>
        <div className="chart-tools">
          {aside}
          <Button kind="quiet" size="s" aria-pressed={isTable} onClick={() => setIsTable(!isTable)}>
            {isTable ? 'Show as chart' : 'Show as table'}
            <span className="visually-hidden">: {title}</span>
          </Button>
          {csvName === undefined ? null : (
            <Button
              kind="quiet"
              size="s"
              icon="download"
              onClick={() => saveSeries(csvName, axis, tableSeries)}
            >
              CSV<span className="visually-hidden">: {title}</span>
            </Button>
          )}
        </div>
      </div>
      {isTable ? (
        <SeriesTable title={title} axis={axis} series={tableSeries} format={format} />
      ) : (
        <div className="plot" ref={setHeight(height)}>
          <p className="visually-hidden">{summary}</p>
          <Suspense fallback={<Skeleton height="m" />}>
            <Plot spec={spec} height={height} onPoint={setPoint} onZoom={zoom} />
          </Suspense>
          {isFlat(series) ? (
            <p className="plot-empty" aria-hidden="true">
              {empty ?? 'No data in this time range'}
            </p>
          ) : null}
          {point === null ? null : <Tip point={point}>{tip(point)}</Tip>}
        </div>
      )}
    </figure>
  );
}

/** Reserves the height before the plot loads, to avoid layout shift. */
const setHeight =
  (height: number) =>
  (element: HTMLDivElement | null): void =>
    element?.style.setProperty('--plot-height', `${height}px`);

function Tip({ point: { left, width }, children }: { point: PlotPoint; children: ReactNode }) {
  if (children === null) return null;
  const isRight = left > width / 2;
  return (
    <div
      className={`plot-tip ${isRight ? 'plot-tip-before' : ''}`}
      aria-hidden="true"
      style={isRight ? { right: width - left + 12 } : { left: left + 12 }}
    >
      {children}
    </div>
  );
}

const TIP_ROWS_MAX = 9;

export function StepTip({
  at,
  stepMs,
  rows,
  total,
  format = formatCount,
}: {
  at: number;
  stepMs: number;
  rows: readonly Readonly<{ id: string; label: string; color: `--${string}`; value: number | null }>[];
  total?: number;
  format?: (value: number) => string;
}) {
  const topRows = rows.length > TIP_ROWS_MAX ? rows.filter(({ value }) => value !== null && value > 0) : rows;
  return (
    <>
      <p className="plot-tip-title">{formatStep(at, stepMs)} UTC</p>
      <dl className="plot-tip-rows">
        {topRows.slice(0, TIP_ROWS_MAX).map(({ id, label, color, value }) => (
          <div key={id}>
            <dt>
              <Swatch color={color} />
              {label}
            </dt>
            <dd>{value === null ? '–' : format(value)}</dd>
          </div>
        ))}
        {total === undefined || rows.length < 2 ? null : (
          <div className="plot-tip-total">
            <dt>Total</dt>
            <dd>{format(total)}</dd>
          </div>
        )}
      </dl>
    </>
  );
}

function saveSeries(name: string, axis: ChartProps['axis'], series: readonly Series[]): void {
  const rows = startsOf(axis).map((at, step) => [
    new Date(at).toISOString(),
    ...series.map(({ values }) => values[step] ?? null),
  ]);
  downloadText(`${name}.csv`, 'text/csv', toCsv(['time', ...series.map(({ label }) => label)], rows));
}
