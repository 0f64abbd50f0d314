import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';

type Gateway = RouteOutput<'GET /upstreams'>['gateways'][number];

const columns: Column<Gateway>[] = [
  {
    id: 'id',
    title: 'Gateway ID',
    cell: ({ id }) => <span className="mono">{id}</span>,
    sortBy: ({ id }) => id,
  },
  { id: 'host', title: 'Host', cell: ({ host }) => host, sortBy: ({ host }) => host },
  { id: 'version', title: 'Version', cell: ({ version }) => version, sortBy: ({ version }) => version },
  {
    id: 'started',
    title: 'Started',
    cell: ({ startedAt }) => <Ago at={startedAt} />,
    sortBy: ({ startedAt }) => startedAt,
  },
  {
    id: 'seen',
    title: 'Last seen',
    cell: ({ seenAt }) => <Ago at={seenAt} />,
    sortBy: ({ seenAt }) => seenAt,
  },
];

export const GatewayTable = ({ gateways }: { gateways: readonly Gateway[] }) => (
  <Table
    caption="Gateways"
    columns={columns}
    rows={gateways}
    rowKey={({ id }) => id}
    initialSort={{ column: 'started', down: true }}
    isStacked
    empty={<p className="muted">No gateway has reported yet.</p>}
  />
);
