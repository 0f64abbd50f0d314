import { useMemo, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { HeatMap } from '../../charts/heat-map.tsx';
import { Lines } from '../../charts/lines.tsx';
import { useZoom } from '../../charts/zoom.ts';
import { useFilters } from '../../filters.ts';
import { formatMs, formatMsTick } from '../../format.ts';
import { percentileSeries } from '../../percentiles.ts';
import { useRangedCall } from '../../queries.ts';
import { useFrameSearch } from '../../range.ts';
import { KeySwitch } from '../../shell/key-switch.tsx';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterChips } from '../../ui/filter-chips.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { Choice } from '../../ui/tabs.tsx';
import { MethodTable } from './method-table.tsx';
import '../../styles/traffic.css';

type Performance = RouteOutput<'GET /customers/{customer}/performance'>;

const fields = ['method'] as const;

export function PerformancePage() {
  const { customer } = useSession();
  const { key } = useFrameSearch();
  const [{ method }, change] = useFilters(fields);
  const performance = useRangedCall('GET /customers/{customer}/performance', {
    path: { customer: customer.id },
    query: { key, method },
  });

  return (
    <Page
      title="Performance"
      question="Request latency over time, by method, and its distribution."
      updatedAt={performance.dataUpdatedAt}
      ranged
      actions={<KeySwitch />}
    >
      <FilterChips
        chips={method === undefined ? [] : [{ id: 'method', label: 'method', value: method }]}
        onRemove={() => change({ method: undefined })}
      />
      <Pending query={performance}>
        {(data) =>
          data.methods.length === 0 ? (
            <EmptyState title="No data in this time range">
              Choose a longer time range. Latency is measured from authentication to the last response byte.
            </EmptyState>
          ) : (
            <PerformanceContent performance={data} onMethod={(name) => change({ method: name })} />
          )
        }
      </Pending>
    </Page>
  );
}

const scales = [
  { value: 'linear', label: 'Linear' },
  { value: 'log', label: 'Log' },
] as const;

function PerformanceContent({
  performance,
  onMethod,
}: {
  performance: Performance;
  onMethod: (name: string) => void;
}) {
  const zoom = useZoom();
  const [scale, setScale] = useState<(typeof scales)[number]['value']>('linear');
  const { axis, series, heat, methods } = performance;
  const lines = useMemo(() => percentileSeries(series), [series]);
  return (
    <>
      <Panel
        title="Latency over time"
        note="Percentiles of request latency. Click a percentile to hide it."
        aside={<Choice label="Scale" options={scales} value={scale} onChange={setScale} />}
      >
        <Lines
          title="Latency over time"
          axis={axis}
          series={lines}
          format={formatMs}
          tick={formatMsTick}
          isLog={scale === 'log'}
          csvName="latency"
          onZoom={zoom}
        />
      </Panel>
      <Panel
        title="Latency distribution"
        note="Each column is a time interval; each row is a latency bucket."
      >
        <HeatMap
          title="Requests by latency over time"
          axis={axis}
          boundsMs={heat.boundsMs}
          counts={heat.counts}
          csvName="latency-heat"
          onZoom={zoom}
        />
      </Panel>
      <Panel title="By method" note="Click a method to isolate it.">
        <MethodTable methods={methods} onMethod={onMethod} />
      </Panel>
    </>
  );
}
