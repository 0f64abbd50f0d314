import { Link } from '@tanstack/react-router';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { toSearch } from '../../filters.ts';
import { formatCount } from '../../format.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { type Column, Table } from '../../ui/table.tsx';

type Row = RouteOutput<'GET /customers/{customer}/errors'>['codes'][number];

/** The REST API's fixed message for invalid fields says too little. */
const messageOf = ({ code, text }: Row): string =>
  code === 'INVALID_FIELDS' ? 'Invalid request fields' : text;

const columns: Column<Row>[] = [
  {
    id: 'code',
    title: 'Code',
    cell: ({ code }) => (
      <Link to="/logs" search={(before) => ({ ...before, code: toSearch(code) })}>
        <code>{code}</code>
      </Link>
    ),
    sortBy: ({ code }) => code,
    csv: ({ code }) => code,
  },
  {
    id: 'rpc',
    title: 'JSON-RPC code',
    align: 'end',
    cell: ({ rpcCode }) => (rpcCode === null || rpcCode === 0 ? '–' : <code>{rpcCode}</code>),
    sortBy: ({ rpcCode }) => rpcCode,
    csv: ({ rpcCode }) => rpcCode,
  },
  {
    id: 'text',
    title: 'Message',
    cell: (row) => <span className="wrap">{messageOf(row)}</span>,
    sortBy: messageOf,
    csv: messageOf,
  },
  {
    id: 'count',
    title: 'Logged requests',
    align: 'end',
    cell: ({ count }) => formatCount(count),
    sortBy: ({ count }) => count,
    csv: ({ count }) => count,
  },
  {
    id: 'example',
    title: 'Example',
    hideTitle: true,
    align: 'end',
    cell: ({ example, code }) => (
      <Link to="/logs" search={(before) => ({ ...before, entry: example })}>
        Example<span className="visually-hidden"> of {code}</span>
      </Link>
    ),
  },
];

export const CodeTable = ({ codes }: { codes: readonly Row[] }) => (
  <Table
    caption="Errors by code"
    columns={columns}
    rows={codes}
    rowKey={({ code, rpcCode }) => `${code} ${rpcCode}`}
    initialSort={{ column: 'count', down: true }}
    csvName="errors-by-code"
    empty={
      <EmptyState title="No matching requests in the request log">
        The request log is sampled and kept for a limited time. The counts on this page include all requests.
      </EmptyState>
    }
  />
);
