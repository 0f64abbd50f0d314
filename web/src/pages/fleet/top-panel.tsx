import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import type { RouteInput, RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { DEFAULT_CUSTOMER_ID } from '../../default-tenant.ts';
import { formatCount, formatMs, formatShare } from '../../format.ts';
import { useRangedCall } from '../../queries.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Choice } from '../../ui/tabs.tsx';
import { specialNames } from '../usage/dimensions.ts';

type Row = RouteOutput<'GET /usage/top'>['rows'][number];
type Query = NonNullable<RouteInput<'GET /usage/top'>['query']>;
export type By = NonNullable<Query['by']>;
export type Filters = Pick<Query, 'method' | 'network' | 'code'>;

const sorts = [
  { value: 'requests', label: 'Requests' },
  { value: 'errors', label: 'Errors' },
  { value: 'credits', label: 'Credits' },
  { value: 'p95', label: 'p95' },
] as const;
type Sort = (typeof sorts)[number]['value'];

const titles: Readonly<Record<By, string>> = {
  customer: 'Customer',
  key: 'API key',
  method: 'Method',
  network: 'Network',
  gateway: 'Gateway',
  node: 'Node',
  code: 'Code',
};

/** What rows are called that belong to no key, network or customer, or whose code is unknown. */
const emptyNames: Readonly<Partial<Record<By, string>>> = {
  key: 'Without a known key',
  network: 'No network',
  code: 'Other',
  customer: 'Unknown customer',
};

const labelOf = (by: By, { name, label }: Row): string => {
  if (name === '') return emptyNames[by] ?? '–';
  if (by === 'method') return specialNames[name] ?? label;
  return name === 'other' ? 'Other' : label;
};

/** With a code, links lead to the logged requests; the filters stay in the search. */
function nameCell(by: By, row: Row, hasCode: boolean, onFilter: (filters: Filters) => void): ReactNode {
  const { name, customer } = row;
  const label = labelOf(by, row);
  if (name === '' || name === 'other') return label;
  if (by === 'customer')
    return (
      <>
        <Link
          to={hasCode ? '/logs' : '/'}
          search={(before) => ({ ...before, customer: name, key: undefined })}
        >
          {label}
        </Link>
        {name === DEFAULT_CUSTOMER_ID ? (
          <span className="table-second">Includes requests without a known key</span>
        ) : null}
      </>
    );
  if (by === 'key' && customer !== null)
    return (
      <>
        <Link
          to={hasCode ? '/logs' : '/keys/$key'}
          params={{ key: name }}
          search={(before) => ({ ...before, customer: customer.id, key: hasCode ? name : undefined })}
        >
          {label}
        </Link>{' '}
        <span className="muted">{customer.name}</span>
      </>
    );
  if (by === 'node')
    return (
      <Link to="/upstreams/$node" params={{ node: name }}>
        {label}
      </Link>
    );
  if (by === 'gateway') return <Link to="/upstreams">{label}</Link>;
  if (by === 'method' || by === 'network' || by === 'code')
    return (
      <Button
        kind="quiet"
        size="s"
        className="link-button"
        onClick={() => onFilter({ [by]: name } as Filters)}
      >
        {label}
      </Button>
    );
  return <span className="mono">{label}</span>;
}

const errorColumn: Column<Row> = {
  id: 'errors',
  title: 'Errors',
  align: 'end',
  cell: ({ errors, requests }) =>
    errors === 0 ? '–' : `${formatCount(errors)} (${formatShare(errors / Math.max(1, requests))})`,
  csv: ({ errors }) => errors,
};

/** Requests with an error code are errors, so rows by code need no column of errors. */
const columnsOf = (by: By, hasCode: boolean, onFilter: (filters: Filters) => void): Column<Row>[] => [
  {
    id: 'name',
    title: titles[by],
    cell: (row) => nameCell(by, row, hasCode, onFilter),
    csv: (row) => labelOf(by, row),
  },
  {
    id: 'requests',
    title: by === 'node' ? 'Attempts' : 'Requests',
    align: 'end',
    cell: ({ requests }) => formatCount(requests),
    csv: ({ requests }) => requests,
  },
  ...(by === 'code' ? [] : [errorColumn]),
  {
    id: 'credits',
    title: 'Credits',
    align: 'end',
    wideOnly: true,
    cell: ({ credits }) => (credits === null ? '–' : formatCount(credits)),
    csv: ({ credits }) => credits,
  },
  ...(['p50', 'p95', 'p99'] as const).map(
    (name): Column<Row> => ({
      id: name,
      title: name,
      align: 'end',
      wideOnly: name !== 'p95',
      cell: ({ latency }) => formatMs(latency[name]),
      csv: ({ latency }) => latency[name],
    }),
  ),
];

type ListProps = Readonly<{
  title: string;
  by: By;
  filters: Filters;
  onFilter: (filters: Filters) => void;
}>;

/** The largest rows by one dimension, sorted by the service. */
export function TopPanel({
  note,
  children,
  ...list
}: ListProps & Readonly<{ note?: string | undefined; children?: ReactNode }>) {
  const [sort, setSort] = useState<Sort>('requests');
  return (
    <Panel
      title={list.title}
      note={note}
      aside={
        <>
          <span className="muted" aria-hidden="true">
            Sort by
          </span>
          <Choice
            label={`Sort ${list.title.replace(/ by .*/, '').toLowerCase()} by`}
            options={list.by === 'code' ? sorts.filter(({ value }) => value !== 'errors') : sorts}
            value={sort}
            onChange={setSort}
          />
        </>
      }
    >
      {children}
      <TopList key={list.by} {...list} sort={sort} />
    </Panel>
  );
}

const ROWS = 20;
const ROWS_MAX = 200;

function TopList({ title, by, filters, onFilter, sort }: ListProps & Readonly<{ sort: Sort }>) {
  const [limit, setLimit] = useState(ROWS);
  const top = useRangedCall('GET /usage/top', { query: { ...filters, by, sort, limit } });
  const hasCode = filters.code !== undefined;
  const columns = useMemo(() => columnsOf(by, hasCode, onFilter), [by, hasCode, onFilter]);
  return (
    <Pending query={top}>
      {({ rows, hasMore }) => (
        <>
          <Table
            caption={title}
            columns={columns}
            rows={rows}
            rowKey={({ name }) => name}
            csvName={`top-by-${by}`}
            empty={<p className="muted">No requests in this time range.</p>}
          />
          {hasMore ? (
            <div className="row">
              <span className="muted">Showing the top {rows.length}.</span>
              {limit < ROWS_MAX ? (
                <Button size="s" onClick={() => setLimit(ROWS_MAX)} busy={top.isPlaceholderData}>
                  Show more<span className="visually-hidden">: {title}</span>
                </Button>
              ) : null}
            </div>
          ) : null}
        </>
      )}
    </Pending>
  );
}
