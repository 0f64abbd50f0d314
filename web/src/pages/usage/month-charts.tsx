import { useMemo } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { Bars } from '../../charts/bars.tsx';
import { QuotaLine } from '../../charts/quota-line.tsx';
import type { Series, TimeAxis } from '../../charts/series.ts';
import { Panel } from '../../ui/panel.tsx';

type Quota = Pick<RouteOutput<'GET /customers/{customer}/quota'>, 'quotas' | 'days'>;

type OnZoom = (from: number, to: number) => void;

const DAY_MS = 86_400_000;

/** The sum of all quotas; null if one is unknown. */
const sumOf = (values: readonly (number | null)[]): number | null =>
  values.some((value) => value === null) || values.length === 0
    ? null
    : values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

export function MonthCharts({ quota, onZoom }: { quota: Quota; onZoom?: OnZoom }) {
  const { quotas, days } = quota;
  const periodFrom = quotas[0]?.periodFrom ?? days[0]?.day ?? 0;
  const periodTo = quotas[0]?.periodTo ?? periodFrom + 31 * DAY_MS;
  const axis = useMemo<TimeAxis>(
    () => ({ from: periodFrom, to: periodTo, stepMs: DAY_MS }),
    [periodFrom, periodTo],
  );
  const series = useMemo<Series[]>(() => {
    const values = new Array<number>(Math.round((periodTo - periodFrom) / DAY_MS)).fill(0);
    for (const { day, credits } of days) values[Math.floor((day - periodFrom) / DAY_MS)] = credits;
    return [{ id: 'credits', label: 'Credits', color: '--series-1', values }];
  }, [days, periodFrom, periodTo]);

  return (
    <div className="columns columns-2">
      <Panel title="Cumulative credits this month">
        <QuotaLine
          title="Cumulative credits this month, compared with the quota"
          periodFrom={periodFrom}
          periodTo={periodTo}
          days={days}
          limit={sumOf(quotas.map(({ limit }) => limit))}
          projected={sumOf(quotas.map(({ projected }) => projected))}
          csvName="quota"
        />
      </Panel>
      <Panel title="Credits per day">
        <Bars
          title="Credits per day"
          axis={axis}
          series={series}
          csvName="days"
          {...(onZoom && { onZoom })}
        />
      </Panel>
    </div>
  );
}
