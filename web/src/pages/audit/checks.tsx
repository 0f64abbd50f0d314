import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount } from '../../format.ts';
import { useCall } from '../../queries.ts';
import { Chip } from '../../ui/chip.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Pending } from '../../ui/pending.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';

type Check = RouteOutput<'GET /checks'>['checks'][number];

const REFETCH_MS = 30_000;

const columns: Column<Check>[] = [
  {
    id: 'holds',
    title: 'Status',
    cell: ({ violations }) =>
      violations === 0 ? (
        <Chip tone="good">Passed</Chip>
      ) : (
        <Chip tone="bad">{formatCount(violations)} failed</Chip>
      ),
    sortBy: ({ violations }) => violations,
    csv: ({ violations }) => violations,
  },
  {
    id: 'name',
    title: 'Check',
    cell: ({ name }) => <span className="wrap">{name}</span>,
    sortBy: ({ name }) => name,
    csv: ({ name }) => name,
  },
  {
    id: 'example',
    title: 'Example',
    cell: ({ example }) => (example === null ? '–' : <code className="wrap">{example}</code>),
    csv: ({ example }) => example,
  },
  {
    id: 'ran',
    title: 'Last run',
    align: 'end',
    cell: ({ ranAt }) => <Ago at={ranAt} />,
    sortBy: ({ ranAt }) => ranAt,
    csv: ({ ranAt }) => new Date(ranAt).toISOString(),
  },
];

export function Checks() {
  const checks = useCall('GET /checks', {}, { refetchMs: REFETCH_MS });
  return (
    <Pending query={checks} height="m">
      {({ checks: all }) => (
        <Table
          caption="Consistency checks"
          columns={columns}
          rows={all}
          rowKey={({ name }) => name}
          initialSort={{ column: 'holds', down: true }}
          csvName="checks"
          empty={
            <EmptyState title="No checks have run yet">
              Checks run shortly after the service first starts, then hourly.
            </EmptyState>
          }
        />
      )}
    </Pending>
  );
}
