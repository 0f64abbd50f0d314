import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Series } from '../../charts/series.ts';
import { Swatch } from '../../charts/swatch.tsx';
import { formatBytes, formatCount, formatShare } from '../../format.ts';
import { type Column, Table } from '../../ui/table.tsx';
import {
  type Dimension,
  dimensionNouns,
  dimensionTitles,
  specialNames,
  type Usage,
  type UsageSeries,
} from './dimensions.ts';

type Row = UsageSeries & Readonly<{ displayName: string; color: `--${string}` }>;

export function BreakdownTable({
  usage,
  series,
  by,
  hasLinks,
}: {
  usage: Usage;
  series: readonly Series[];
  by: Dimension;
  hasLinks: boolean;
}) {
  const rows = useMemo<Row[]>(
    () =>
      usage.series.map((one) => ({
        ...one,
        displayName: series.find(({ id }) => id === one.name)?.label ?? specialNames[one.name] ?? one.label,
        color: series.find(({ id }) => id === one.name)?.color ?? '--ink-3',
      })),
    [usage, series],
  );
  const columns = useMemo(
    () => columnsOf(by, usage.totals.credits, hasLinks),
    [by, usage.totals.credits, hasLinks],
  );
  return (
    <Table
      caption={`Totals by ${dimensionNouns[by]}`}
      columns={columns}
      rows={rows}
      rowKey={({ name }) => name}
      csvName={`totals-by-${by}`}
      initialSort={{ column: 'requests', down: true }}
    />
  );
}

const columnsOf = (by: Dimension, credits: number, hasLinks: boolean): Column<Row>[] => [
  {
    id: 'name',
    title: dimensionTitles[by],
    cell: (row) => (
      <span className="swatched">
        <Swatch color={row.color} />
        {hasLinks ? <Name row={row} by={by} /> : row.displayName}
      </span>
    ),
    sortBy: ({ displayName }) => displayName,
    csv: ({ name }) => name,
  },
  number('requests', 'Requests', ({ totals }) => totals.requests, formatCount),
  {
    ...number('ok', 'Success rate', ({ totals }) => shareOf(totals.ok, totals.requests), formatShare),
    csv: ({ totals }) => totals.ok,
  },
  number('credits', 'Credits', ({ totals }) => totals.credits, formatCount),
  {
    ...number('share', 'Share of credits', ({ totals }) => shareOf(totals.credits, credits), formatShare),
    wideOnly: true,
  },
  { ...number('in', 'Request data', ({ totals }) => totals.bytesIn, formatBytes), wideOnly: true },
  { ...number('out', 'Response data', ({ totals }) => totals.bytesOut, formatBytes), wideOnly: true },
  { ...number('messages', 'Stream messages', ({ totals }) => totals.messages, formatCount), wideOnly: true },
];

const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

const number = (
  id: string,
  title: string,
  of: (row: Row) => number | null,
  format: (value: number) => string,
): Column<Row> => ({
  id,
  title,
  align: 'end',
  sortBy: of,
  csv: of,
  cell: (row) => {
    const value = of(row);
    return value === null ? '–' : format(value);
  },
});

function Name({ row, by }: { row: Row; by: Dimension }) {
  if (row.name === 'other') return <>{row.displayName}</>;
  if (by === 'key')
    return (
      <Link to="/keys/$key" params={{ key: row.name }}>
        {row.displayName}
      </Link>
    );
  if (by === 'method')
    return (
      <Link to="/logs" search={(before) => ({ ...before, method: row.name })}>
        {row.displayName}
      </Link>
    );
  return <>{row.displayName}</>;
}
