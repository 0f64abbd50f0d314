import { Link } from '@tanstack/react-router';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount } from '../../format.ts';
import { useRangedCall } from '../../queries.ts';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';

type Row = RouteOutput<'GET /unknown-methods'>['methods'][number];

const columns: Column<Row>[] = [
  {
    id: 'method',
    title: 'Method',
    cell: ({ method }) => (
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
  {
    id: 'customers',
    title: 'Customers',
    align: 'end',
    cell: ({ customers }) => formatCount(customers),
    sortBy: ({ customers }) => customers,
    csv: ({ customers }) => customers,
  },
  {
    id: 'last',
    title: 'Last seen',
    align: 'end',
    cell: ({ lastAt }) => <Ago at={lastAt} />,
    sortBy: ({ lastAt }) => lastAt,
    csv: ({ lastAt }) => new Date(lastAt).toISOString(),
  },
];

/** For operators only. */
export function UnknownMethods() {
  const unknown = useRangedCall('GET /unknown-methods', {});
  return (
    <Panel
      title="Unknown methods"
      note="Methods that no node supports, across all customers, counted per hour. These calls are free."
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
            empty={<p className="muted">No unknown methods in this time range.</p>}
          />
        )}
      </Pending>
    </Panel>
  );
}
