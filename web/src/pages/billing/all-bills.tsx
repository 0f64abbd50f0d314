import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { addressOf, call } from '../../api.ts';
import { formatCount } from '../../format.ts';
import { usePagedList } from '../../paged-list.ts';
import { useDebounced } from '../../pager.ts';
import { useCall } from '../../queries.ts';
import { Chip } from '../../ui/chip.tsx';
import { Icon } from '../../ui/icon.tsx';
import { MoreButton } from '../../ui/more-button.tsx';
import { Pending } from '../../ui/pending.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tile } from '../../ui/tile.tsx';
import { totalText } from './money.ts';
import { MonthSelect } from './month-select.tsx';
import { StripeEvents } from './stripe-panels.tsx';

type Bills = RouteOutput<'GET /billing'>;
type Row = Bills['items'][number];

/** Longest search that the API accepts. */
const SEARCH_LENGTH_MAX = 64;

export function AllBills({
  month: chosen,
  onMonth,
}: {
  month: string | undefined;
  onMonth: (month: string) => void;
}) {
  const [text, setText] = useState('');
  const search = useDebounced(text.trim());
  const query = { month: chosen, search };
  const bills = useCall('GET /billing', { query }, { keepPrevious: true });
  const list = usePagedList<Row>(
    `${chosen ?? ''} ${search}`,
    bills.data,
    ({ customerId }) => customerId,
    (cursor) => call('GET /billing', { query: { ...query, cursor } }),
  );
  const months = bills.data?.months ?? [];
  const month = chosen ?? months[0] ?? '';
  return (
    <div className="stack">
      <div className="row">
        <MonthSelect month={month} months={months} onMonth={onMonth} />
        <input
          className="input filter-search"
          type="search"
          aria-label="Search customers by name"
          placeholder="Search customers"
          maxLength={SEARCH_LENGTH_MAX}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {(['csv', 'jsonl'] as const).map((format) => (
          <a
            key={format}
            className="button"
            href={addressOf(`GET /billing.${format}`, { query: { month: chosen } })}
            download={`usage-${month}.${format}`}
          >
            <Icon name="download" />
            {format === 'csv' ? 'Usage (CSV)' : 'Usage (JSON Lines)'}
          </a>
        ))}
      </div>
      <Pending query={bills}>
        {(data) => (
          <>
            <Tiles bills={data} />
            <Table
              caption="Bills"
              rows={list.items}
              rowKey={({ customerId }) => customerId}
              columns={columns}
              csvName={`bills-${month}`}
              empty={<p className="muted">No matching customers.</p>}
            />
            <MoreButton list={list} what="customer" />
          </>
        )}
      </Pending>
      <StripeEvents />
    </div>
  );
}

const Tiles = ({ bills }: { bills: Bills }) => (
  <div className="tiles">
    <Tile label="Total" value={totalText(bills.totals)} note="All customers" />
    <Tile label="Credits" value={formatCount(bills.credits)} note="All customers" />
    <Tile label="Requests" value={formatCount(bills.requests)} note="All customers" />
  </div>
);

const BillLink = ({ customerId, children }: { customerId: string; children: string }) => (
  <Link
    to="/billing"
    search={(before) => ({ ...before, customer: customerId, key: undefined, tab: 'customer' })}
  >
    {children}
  </Link>
);

const columns: Column<Row>[] = [
  {
    id: 'name',
    title: 'Customer',
    sortBy: ({ customerName }) => customerName,
    csv: ({ customerName }) => customerName,
    cell: ({ customerId, customerName }) => (
      <>
        <BillLink customerId={customerId}>{customerName}</BillLink>
        <span className="table-second mono">{customerId}</span>
      </>
    ),
  },
  {
    id: 'plan',
    title: 'Plan',
    sortBy: ({ planId }) => planId,
    csv: ({ planId }) => planId,
    cell: ({ planId }) => planId,
  },
  ...(['requests', 'credits'] as const).map(
    (field): Column<Row> => ({
      id: field,
      title: { requests: 'Requests', credits: 'Credits' }[field],
      align: 'end',
      sortBy: (row) => row[field],
      csv: (row) => row[field],
      cell: (row) => formatCount(row[field]),
    }),
  ),
  {
    id: 'total',
    title: 'Total',
    align: 'end',
    sortBy: ({ totals }) => totals[0]?.amount ?? 0,
    csv: ({ totals }) => totalText(totals),
    cell: ({ customerId, totals }) => <BillLink customerId={customerId}>{totalText(totals)}</BillLink>,
  },
  {
    id: 'state',
    title: 'Status',
    sortBy: ({ isClosed }) => Number(isClosed),
    csv: ({ isClosed }) => (isClosed ? 'closed' : 'open'),
    cell: ({ isClosed }) => <Chip tone={isClosed ? 'good' : 'neutral'}>{isClosed ? 'Closed' : 'Open'}</Chip>,
  },
];
