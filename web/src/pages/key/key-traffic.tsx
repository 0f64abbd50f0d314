import { useState } from 'react';
import { Lines } from '../../charts/lines.tsx';
import { seriesColor } from '../../charts/series.ts';
import { StackedArea } from '../../charts/stacked-area.tsx';
import { useZoom } from '../../charts/zoom.ts';
import { formatBytes, formatMs, formatMsTick, formatShort } from '../../format.ts';
import { outcomeSeries } from '../../outcomes.ts';
import { percentileSeries } from '../../percentiles.ts';
import { useRangedCall } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Choice } from '../../ui/tabs.tsx';
import { Tile } from '../../ui/tile.tsx';

const cuts = [
  { value: 'status', label: 'Outcome' },
  { value: 'method', label: 'Method' },
] as const;
type Cut = (typeof cuts)[number]['value'];

export function KeyTraffic({ keyId }: { keyId: string }) {
  const { customer } = useSession();
  const zoom = useZoom();
  const [by, setBy] = useState<Cut>('status');
  const path = { customer: customer.id };
  const usage = useRangedCall('GET /customers/{customer}/usage', { path, query: { key: keyId, by } });
  const performance = useRangedCall('GET /customers/{customer}/performance', { path, query: { key: keyId } });

  if (usage.data === undefined)
    return usage.error === null ? <Skeleton height="l" /> : <FormError problem={usage.error} />;
  const { axis, series, totals } = usage.data;
  const requests =
    by === 'status'
      ? outcomeSeries(Object.fromEntries(series.map((one) => [one.name, one.requests])))
      : series.map((one, index) => ({
          id: one.name,
          label: one.label,
          color: seriesColor(index),
          values: one.requests,
        }));
  const limited = series.find(({ name }) => by === 'status' && name === 'limited')?.totals.requests;
  return (
    <div className="stack">
      <div className="tiles">
        <Tile label="Requests" value={formatShort(totals.requests)} />
        <Tile label="Credits" value={formatShort(totals.credits)} />
        <Tile label="Response data" value={formatBytes(totals.bytesOut)} />
        <Tile label="Stream messages" value={formatShort(totals.messages)} />
        {by === 'status' ? <Tile label="Rate limited" value={formatShort(limited ?? 0)} /> : null}
      </div>
      <div className="columns columns-2">
        <Panel
          title="Requests"
          aside={<Choice label="Group by" options={cuts} value={by} onChange={setBy} />}
        >
          <StackedArea
            title="Requests for this API key"
            axis={axis}
            series={requests}
            csvName={`solway-${keyId}-requests`}
            onZoom={zoom}
          />
        </Panel>
        <Panel title="Latency">
          {performance.data === undefined ? (
            <Skeleton height="m" />
          ) : (
            <Lines
              title="Latency for this API key"
              axis={performance.data.axis}
              series={percentileSeries(performance.data.series)}
              format={formatMs}
              tick={formatMsTick}
              csvName={`solway-${keyId}-latency`}
              onZoom={zoom}
            />
          )}
        </Panel>
      </div>
    </div>
  );
}
