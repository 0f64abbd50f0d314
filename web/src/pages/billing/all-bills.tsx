import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { addressOf } from '../../api.ts';
import { formatCount } from '../../format.ts';
import { useDebounced, usePager } from '../../pager.ts';
import { PlanName } from '../../plan-name.tsx';
import { useCall } from '../../queries.ts';
import { Chip } from '../../ui/chip.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PagerButtons } from '../../ui/pager-buttons.tsx';
import { Pending } from '../../ui/pending.tsx';
import { type Column, orderText, type Sort, type SortOrder, Table } from '../../ui/table.tsx';
import { Tile } from '../../ui/tile.tsx';
import { totalText } from './money.ts';
import { MonthSelect } from './month-select.tsx';
import { StripeEvents } from './stripe-panels.tsx';

type Row = RouteOutput<'GET /billing'>['items'][number];

const sortable = ['name', 'requests', 'credits', 'total'] as const;
type Order = SortOrder<(typeof sortable)[number]>;

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
  const [sort, setSort] = useState<Sort>({ column: 'name', down: false });
  const query = { month: chosen, search, sort: orderText(sort) as Order };
  const pager = usePager(JSON.stringify(query));
  const bills = useCall(
    'GET /billing',
    { query: { ...query, cursor: pager.cursor } },
    { keepPrevious: true },
  );
  const totals = useCall('GET /billing/totals', { query: { month: chosen } }, { keepPrevious: true });
  const months = bills.data?.months ?? [];
  const month = chosen ?? months[0] ?? '';
  return (
    <div className="stack">
      <div className="row">
        <MonthSelect month={month} months={months} onMonth={onMonth} />
        <input
          className="input filter-search"
          type="search"
          aria-label="Search customers by name or ID"
          placeholder="Name or ID"
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
      <Pending query={totals}>{(data) => <Tiles totals={data} />}</Pending>
      <Pending query={bills}>
        {(data) => (
          <>
            <Table
              caption="Bills"
              rows={data.items}
              rowKey={({ customerId }) => customerId}
              columns={columns}
              csvName={`bills-${month}`}
              empty={<p className="muted">No matching customers.</p>}
              order={{ sort, columns: sortable, onSort: setSort }}
            />
            <PagerButtons pager={pager} next={data.next} />
          </>
        )}
      </Pending>
      <StripeEvents />
    </div>
  );
}

const Tiles = ({ totals }: { totals: RouteOutput<'GET /billing/totals'> }) => (
  <div className="tiles">
    <Tile label="Total" value={totalText(totals.totals)} note="All customers" />
    <Tile label="Credits" value={formatCount(totals.credits)} note="All customers" />
    <Tile label="Requests" value={formatCount(totals.requests)} note="All customers" />
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
    wideOnly: true,
    csv: ({ planId }) => planId,
    cell: ({ planId }) => <PlanName id={planId} />,
  },
  ...(['requests', 'credits'] as const).map(
    (field): Column<Row> => ({
      id: field,
      title: { requests: 'Requests', credits: 'Credits' }[field],
      wideOnly: field === 'requests',
      align: 'end',
      csv: (row) => row[field],
      cell: (row) => formatCount(row[field]),
    }),
  ),
  {
    id: 'total',
    title: 'Total',
    align: 'end',
    csv: ({ totals }) => totalText(totals),
    cell: ({ customerId, totals }) =>
      totals.length === 0 ? '–' : <BillLink customerId={customerId}>{totalText(totals)}</BillLink>,
  },
  {
    id: 'state',
    title: 'Status',
    csv: ({ isClosed }) => (isClosed ? 'closed' : 'open'),
    cell: ({ isClosed }) => <Chip tone={isClosed ? 'good' : 'neutral'}>{isClosed ? 'Closed' : 'Open'}</Chip>,
  },
];
