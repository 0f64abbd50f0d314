import { useMemo, useState } from 'react';
import { addressOf } from '../../api.ts';
import { type Series, seriesColor, stack, stepsOf } from '../../charts/series.ts';
import { StackedArea } from '../../charts/stacked-area.tsx';
import { useZoom } from '../../charts/zoom.ts';
import { useFilters } from '../../filters.ts';
import { formatBytes, formatCount, formatShort } from '../../format.ts';
import { outcomes } from '../../outcomes.ts';
import { type Product, productNames } from '../../product-names.ts';
import { useRangedCall } from '../../queries.ts';
import { useFrameSearch, useRange } from '../../range.ts';
import { useSession } from '../../shell/session.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Choice } from '../../ui/tabs.tsx';
import { BreakdownTable } from './breakdown-table.tsx';
import {
  type Dimension,
  dimensionNouns,
  dimensions,
  dimensionTitles,
  specialNames,
  type Usage,
} from './dimensions.ts';

const measures = ['requests', 'credits', 'bytes'] as const;
type Measure = (typeof measures)[number];
const measureTitles: Readonly<Record<Measure, string>> = {
  requests: 'Requests',
  credits: 'Credits',
  bytes: 'Bytes',
};

const fields = ['by'] as const;

/** Series of the API beside `other`. */
const LISTED_MAX = 20;

/** Limited by the number of distinguishable colors. */
const SERIES_MAX = 8;

function seriesOf(usage: Usage, by: Dimension, measure: Measure): Series[] {
  const named = allSeriesOf(usage, by, measure);
  if (named.length <= SERIES_MAX) return named;
  const isOther = ({ id }: Series): boolean => id === 'other';
  const all = [...named.filter((one) => !isOther(one)), ...named.filter(isOther)];
  const rest = all.slice(SERIES_MAX - 1);
  const values = stack(rest, stepsOf(usage.axis)).at(-1) ?? [];
  return [
    ...all.slice(0, SERIES_MAX - 1),
    { id: 'rest', label: `${rest.length} others`, color: '--ink-3', values },
  ];
}

function allSeriesOf(usage: Usage, by: Dimension, measure: Measure): Series[] {
  return usage.series.map((one, index) => {
    const outcome = by === 'status' ? outcomes[one.name as keyof typeof outcomes] : undefined;
    const product = by === 'product' ? productNames[one.name as Product] : undefined;
    return {
      id: one.name,
      label: outcome?.label ?? product ?? specialNames[one.name] ?? one.label,
      color: outcome?.color ?? (one.name === 'other' ? '--ink-3' : seriesColor(index)),
      values: one[measure],
    };
  });
}

export function Breakdown() {
  const { customer } = useSession();
  const { key } = useFrameSearch();
  const zoom = useZoom();
  const [filters, change] = useFilters(fields);
  const by = dimensions.find((one) => one === filters.by) ?? 'method';
  const [measure, setMeasure] = useState<Measure>('requests');
  const usage = useRangedCall('GET /customers/{customer}/usage', {
    path: { customer: customer.id },
    query: { by, key },
  });

  return (
    <Panel
      title="Usage breakdown"
      aside={
        <>
          <Choice
            label="Group by"
            value={by}
            options={dimensions.map((value) => ({ value, label: dimensionTitles[value] }))}
            onChange={(value) => change({ by: value })}
          />
          <Choice
            label="Metric"
            value={measure}
            options={measures.map((value) => ({ value, label: measureTitles[value] }))}
            onChange={setMeasure}
          />
        </>
      }
    >
      <Pending query={usage}>
        {(data) =>
          data.series.length === 0 ? (
            <NoUsage />
          ) : (
            <UsageParts usage={data} by={by} measure={measure} onZoom={zoom} hasLinks />
          )
        }
      </Pending>
      <Export by={by} />
    </Panel>
  );
}

/** @param hasLinks - whether names link to pages, which need an account. */
export function UsageParts({
  usage,
  by,
  measure,
  onZoom,
  hasLinks = false,
}: {
  usage: Usage;
  by: Dimension;
  measure: Measure;
  onZoom?: (from: number, to: number) => void;
  hasLinks?: boolean;
}) {
  const series = useMemo(() => seriesOf(usage, by, measure), [usage, by, measure]);
  const { format, tick } =
    measure === 'bytes'
      ? { format: formatBytes, tick: formatBytes }
      : { format: formatCount, tick: formatShort };
  return (
    <>
      <StackedArea
        // Resets hidden series when the grouping changes.
        key={by}
        title={`${measureTitles[measure]} by ${dimensionNouns[by]}`}
        axis={usage.axis}
        series={series}
        format={format}
        tick={tick}
        height={240}
        csvName={`usage-by-${by}`}
        {...(onZoom && { onZoom })}
      />
      <BreakdownTable usage={usage} series={series} by={by} hasLinks={hasLinks} />
      {usage.series.length > LISTED_MAX ? (
        <p className="muted">Showing the top {LISTED_MAX} by requests; Other is the remainder.</p>
      ) : null}
    </>
  );
}

function NoUsage() {
  const { service } = useSession();
  return (
    <EmptyState
      title="No usage in this time range"
      snippet={`curl ${service.urls.http}/v1/rpc -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' \\\n  -d '{"jsonrpc":"2.0","id":1,"method":"getSlot"}'`}
    >
      Choose a longer time range, or send a request with an API key. Usage appears within a few seconds.
    </EmptyState>
  );
}

function Export({ by }: { by: Dimension }) {
  const { customer } = useSession();
  const { key } = useFrameSearch();
  const range = useRange();
  const path = { customer: customer.id };
  // Fixed at render time, because it is a plain link.
  const bounds = useMemo(() => range.bounds(), [range]);
  const csv = addressOf('GET /customers/{customer}/usage.csv', { path, query: { key, ...bounds } });
  const json = addressOf('GET /customers/{customer}/usage', { path, query: { key, by, ...bounds } });
  return (
    <details className="more">
      <summary>Export</summary>
      <div className="stack-tight">
        <p>
          <a className="button" href={csv} download="usage.csv">
            <Icon name="download" />
            Download CSV
          </a>
        </p>
        <p className="muted">Or call the control API with an API token from Settings:</p>
        <Snippet
          label="command"
          text={`curl '${window.location.origin}${json}' \\\n  -H 'Authorization: Bearer <TOKEN>'`}
        />
      </div>
    </details>
  );
}
