import { Link } from '@tanstack/react-router';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { toSearch } from '../../filters.ts';
import { formatCount } from '../../format.ts';
import { type Column, Table } from '../../ui/table.tsx';

type Row = RouteOutput<'GET /customers/{customer}/errors'>['codes'][number];

/** A code of nodes, whose message differs per request. */
const NODE_CODE = /^-?\d+$/;

/** The REST API's fixed message for invalid fields says too little. Placeholders differ per request. */
const messageOf = ({ code, text }: Row): string =>
  code === 'INVALID_FIELDS'
    ? 'Invalid request fields'
    : `${NODE_CODE.test(code) && text !== null ? 'For example: ' : ''}${(text ?? '–').replaceAll(/\{\w+\}/g, '…')}`;

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
    id: 'requests',
    title: 'Requests',
    align: 'end',
    cell: ({ requests }) => formatCount(requests),
    sortBy: ({ requests }) => requests,
    csv: ({ requests }) => requests,
  },
  {
    id: 'example',
    title: 'Example',
    hideTitle: true,
    align: 'end',
    cell: ({ example, code }) =>
      example === null ? null : (
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
    rowKey={({ code }) => code}
    initialSort={{ column: 'requests', down: true }}
    csvName="errors-by-code"
    isStacked
  />
);
