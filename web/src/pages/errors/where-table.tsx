import { Link } from '@tanstack/react-router';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount } from '../../format.ts';
import { outcomes } from '../../outcomes.ts';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';
import { specialNames } from '../usage/dimensions.ts';

/** `lastAt` is the start of a minute; its end is nearer to the last error of a continuing failure. */
const MINUTE_MS = 60_000;

/** Unknown methods are counted together; the log has their names. */
const OTHER = 'other';

type Row = RouteOutput<'GET /customers/{customer}/errors'>['rows'][number];

const nameOf = ({ key, keyName }: Row): string => keyName ?? (key === '' ? '–' : key);

const columns: readonly Column<Row>[] = [
  {
    id: 'status',
    title: 'Outcome',
    cell: ({ status }) => <OutcomeChip status={status} />,
    sortBy: ({ status }) => outcomes[status].label,
    csv: ({ status }) => status,
  },
  {
    id: 'method',
    title: 'Method',
    cell: ({ method, status, key }) => (
      <Link
        to="/logs"
        search={(before) => ({
          ...before,
          ...(method === OTHER ? {} : { method }),
          status,
          ...(key.length === 8 ? { key } : {}),
        })}
      >
        {specialNames[method] ?? method}
      </Link>
    ),
    sortBy: ({ method }) => method,
    csv: ({ method }) => method,
  },
  {
    id: 'key',
    title: 'API key',
    cell: (row) => (
      <span className="short" title={row.key}>
        {nameOf(row)}
      </span>
    ),
    sortBy: nameOf,
    csv: ({ key }) => key,
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
    id: 'last',
    title: 'Last seen',
    align: 'end',
    cell: ({ lastAt }) => <Ago at={Math.min(Date.now(), lastAt + MINUTE_MS)} />,
    sortBy: ({ lastAt }) => lastAt,
    csv: ({ lastAt }) => new Date(lastAt).toISOString(),
  },
];

export function WhereTable({ rows }: { rows: readonly Row[] }) {
  return (
    <Table
      caption="Errors by method and API key"
      columns={columns}
      rows={rows}
      rowKey={({ status, method, product, key }) => `${status} ${method} ${product} ${key}`}
      initialSort={{ column: 'requests', down: true }}
      csvName="errors-by-method"
      isStacked
    />
  );
}
