import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount } from '../../format.ts';
import { useRangedCall } from '../../queries.ts';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';

type Row = RouteOutput<'GET /unknown-methods'>['methods'][number];

const columnsOf = (isOfAll: boolean): Column<Row>[] => [
  {
    id: 'method',
    title: 'Method',
    cell: ({ method }) =>
      isOfAll ? (
        <code>{method}</code>
      ) : (
        <Link to="/logs" search={(before) => ({ ...before, method, status: 'client' })}>
          <code>{method}</code>
        </Link>
      ),
    sortBy: ({ method }) => method,
    csv: ({ method }) => method,
  },
  {
    id: 'requests',
    title: 'Requests',
    align: 'end',
    cell: ({ requests }) => formatCount(requests),
    sortBy: ({ requests }) => requests,
    csv: ({ requests }) => requests,
  },
  ...(isOfAll
    ? [
        {
          id: 'customers',
          title: 'Customers',
          align: 'end' as const,
          cell: ({ customers }: Row) => formatCount(customers),
          sortBy: ({ customers }: Row) => customers,
          csv: ({ customers }: Row) => customers,
        },
      ]
    : []),
  {
    id: 'last',
    title: 'Last seen',
    align: 'end',
    cell: ({ lastAt }) => <Ago at={lastAt} />,
    sortBy: ({ lastAt }) => lastAt,
    csv: ({ lastAt }) => new Date(lastAt).toISOString(),
  },
];

/** For operators only. @param customer - undefined: all customers. */
export function UnknownMethods({ customer }: { customer?: string }) {
  const unknown = useRangedCall('GET /unknown-methods', { query: { customer } });
  const columns = useMemo(() => columnsOf(customer === undefined), [customer]);
  return (
    <Panel
      title="Unknown methods"
      note="Methods that no node supports, counted per hour. These calls are free."
    >
      <Pending query={unknown}>
        {({ methods }) => (
          <Table
            caption="Unknown methods"
            columns={columns}
            rows={methods}
            rowKey={({ method }) => method}
            initialSort={{ column: 'requests', down: true }}
            csvName="unknown-methods"
            isStacked
            empty={<p className="muted">No unknown methods in this time range.</p>}
          />
        )}
      </Pending>
    </Panel>
  );
}
