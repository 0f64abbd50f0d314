import { useMemo } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { Bars } from '../../charts/bars.tsx';
import type { Series, TimeAxis } from '../../charts/series.ts';
import { Swatch } from '../../charts/swatch.tsx';
import { useZoom } from '../../charts/zoom.ts';
import { Time } from '../../ui/time.tsx';

type LogHistogram = RouteOutput<'GET /customers/{customer}/logs/histogram'>;

const HEIGHT_PX = 120;

export function Histogram({ histogram }: { histogram: LogHistogram }) {
  const zoom = useZoom();
  const { from, stepMs, counts, errors, countedFrom } = histogram;
  const axis = useMemo<TimeAxis>(
    () => ({ from, to: from + counts.length * stepMs, stepMs }),
    [from, stepMs, counts.length],
  );
  const series = useMemo<Series[]>(
    () => [
      {
        id: 'ok',
        label: 'OK',
        color: '--status-ok',
        values: counts.map((count, at) => count - (errors[at] ?? 0)),
      },
      { id: 'errors', label: 'Error', color: '--status-gateway', values: errors },
    ],
    [counts, errors],
  );
  return (
    <>
      <Bars
        title="Logged requests over time"
        axis={axis}
        series={series}
        height={HEIGHT_PX}
        csvName="log-histogram"
        onZoom={zoom}
        empty="No data in this time range"
        legend={
          <ul className="legend">
            {series.map(({ id, label, color }) => (
              <li key={id} className="legend-still">
                <Swatch color={color} />
                {label}
              </li>
            ))}
          </ul>
        }
      />
      {countedFrom <= from ? null : (
        <p className="muted">
          Counts the newest requests only, since <Time at={countedFrom} />.
        </p>
      )}
    </>
  );
}
