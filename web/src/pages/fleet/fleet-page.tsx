import { useCallback, useMemo, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { Lines } from '../../charts/lines.tsx';
import { StackedArea } from '../../charts/stacked-area.tsx';
import { useZoom } from '../../charts/zoom.ts';
import { useFilters } from '../../filters.ts';
import { formatMs, formatMsTick, formatShare, formatShort } from '../../format.ts';
import { successTone } from '../../outcome-tone.ts';
import { outcomeSeries } from '../../outcomes.ts';
import { percentileSeries } from '../../percentiles.ts';
import { useRangedCall } from '../../queries.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterChips } from '../../ui/filter-chips.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { Choice } from '../../ui/tabs.tsx';
import { Tile } from '../../ui/tile.tsx';
import { UnknownMethods } from '../errors/unknown-methods.tsx';
import { type By, type Filters, TopPanel } from './top-panel.tsx';
import '../../styles/traffic.css';

type Summary = RouteOutput<'GET /usage/summary'>;

const fields = ['method', 'network', 'code'] as const;

export function FleetPage() {
  const { user } = useSession();
  if (user.isOperator) return <Fleet />;
  return (
    <Page title="All customers" question="Traffic of all customers.">
      <EmptyState title="Only operators can view the traffic of all customers">
        Home, Performance, and Errors show the traffic of your customer.
      </EmptyState>
    </Page>
  );
}

function Fleet() {
  const [search, change] = useFilters(fields);
  const filters = search as Filters;
  const summary = useRangedCall('GET /usage/summary', { query: filters });
  const onFilter = useCallback((chosen: Filters) => change(chosen), [change]);
  const chips = fields.flatMap((id) => {
    const value = filters[id];
    return value === undefined ? [] : [{ id, label: id, value }];
  });
  const top = { filters, onFilter } as const;
  return (
    <Page
      title="All customers"
      question="Traffic, errors, latency, and credits of all customers."
      updatedAt={summary.dataUpdatedAt}
      ranged
    >
      <FilterChips
        chips={chips}
        onRemove={(ids) => change(Object.fromEntries(ids.map((id) => [id, undefined])))}
      />
      <Pending query={summary}>{(data) => <SummaryView summary={data} />}</Pending>
      <TopPanel {...top} title="Methods" by="method" />
      <TopPanel
        {...top}
        title="Customers"
        by="customer"
        note={filters.code && 'Select a customer to list its logged requests with this code.'}
      />
      <TopPanel
        {...top}
        title="Errors by code"
        by="code"
        note="Select a code to see which methods, customers, and API keys it affects."
      />
      <Breakdown {...top} />
      <UnknownMethods />
    </Page>
  );
}

function SummaryView({ summary }: { summary: Summary }) {
  const zoom = useZoom();
  const { axis, now, before, byStatus, latency, credits } = summary;
  const outcomes = useMemo(() => outcomeSeries(byStatus), [byStatus]);
  const lines = useMemo(() => percentileSeries(latency), [latency]);
  const share = now.requests === 0 ? null : now.ok / now.requests;
  const tone = successTone(share);
  return (
    <>
      <div className="tiles">
        <Tile
          label="Requests"
          value={formatShort(now.requests)}
          delta={{ now: now.requests, before: before.requests, good: null }}
        />
        <Tile label="Success rate" value={share === null ? '–' : formatShare(share)} tone={tone} />
        <Tile
          label="Latency (p95)"
          value={formatMs(now.latency.p95)}
          values={latency.p95}
          delta={{
            now: now.latency.p95,
            before: before.latency.p95,
            good: 'down',
            canBeGood: tone !== 'bad',
          }}
        />
        <Tile
          label="Credits"
          value={formatShort(now.credits)}
          values={credits}
          delta={{ now: now.credits, before: before.credits, good: null }}
        />
      </div>
      <div className="columns columns-2">
        <Panel title="Requests by outcome">
          <StackedArea
            title="Requests by outcome"
            axis={axis}
            series={outcomes}
            csvName="all-customers-requests"
            onZoom={zoom}
          />
        </Panel>
        <Panel title="Latency">
          <Lines
            title="Latency"
            axis={axis}
            series={lines}
            format={formatMs}
            tick={formatMsTick}
            csvName="all-customers-latency"
            onZoom={zoom}
          />
        </Panel>
      </div>
    </>
  );
}

type TopProps = Readonly<{ filters: Filters; onFilter: (filters: Filters) => void }>;

const dimensions = [
  { value: 'key', label: 'API key' },
  { value: 'network', label: 'Network' },
  { value: 'gateway', label: 'Gateway' },
  { value: 'node', label: 'Node' },
] as const satisfies readonly Readonly<{ value: By; label: string }>[];

function Breakdown(props: TopProps) {
  const [by, setBy] = useState<(typeof dimensions)[number]['value']>('key');
  return (
    <TopPanel
      {...props}
      title="Breakdown"
      by={by}
      note="Nodes show attempts, including retries and hedged requests. Each restart of a gateway is listed separately."
    >
      <Choice label="Break down by" options={dimensions} value={by} onChange={setBy} />
    </TopPanel>
  );
}
