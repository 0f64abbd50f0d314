import { useState } from 'react';
import type { ConnectionJson } from '../../../../src/control/api/contract/logs.ts';
import { formatBytes, formatCount } from '../../format.ts';
import { useCall } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FormError } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';
import { CloseDialog } from '../streams/close-dialog.tsx';

const REFETCH_MS = 3_000;

export function KeyConnections({ keyId }: { keyId: string }) {
  const { customer, can } = useSession();
  const open = useCall(
    'GET /customers/{customer}/connections',
    { path: { customer: customer.id }, query: { key: keyId } },
    { refetchMs: REFETCH_MS },
  );
  const [closing, setClosing] = useState<ConnectionJson | null>(null);

  if (open.data === undefined) return open.error === null ? <Skeleton /> : <FormError problem={open.error} />;
  return (
    <>
      <Table
        caption="Open connections for this API key"
        columns={[
          ...columns,
          ...(can('developer')
            ? [
                {
                  id: 'close',
                  title: 'Actions',
                  hideTitle: true,
                  align: 'end' as const,
                  cell: (row: ConnectionJson) => (
                    <Button size="s" kind="danger" onClick={() => setClosing(row)}>
                      Close<span className="visually-hidden"> connection from {row.address}</span>
                    </Button>
                  ),
                },
              ]
            : []),
        ]}
        rows={open.data.items}
        rowKey={({ id }) => id}
        csvName={`solway-${keyId}-connections`}
        empty={
          <EmptyState title="No open connections">
            Open WebSocket connections and gRPC streams for this API key appear here.
          </EmptyState>
        }
      />
      {closing === null ? null : <CloseDialog connection={closing} onDone={() => setClosing(null)} />}
    </>
  );
}

const columns: readonly Column<ConnectionJson>[] = [
  {
    id: 'kind',
    title: 'Type',
    sortBy: ({ kind }) => kind,
    csv: ({ kind }) => kind,
    cell: ({ kind, about }) => (
      <>
        {kind === 'grpc' ? 'gRPC stream' : 'WebSocket'}
        <span className="table-second">{about.join(', ')}</span>
      </>
    ),
  },
  {
    id: 'from',
    title: 'IP address',
    sortBy: ({ address }) => address,
    csv: ({ address }) => address,
    cell: ({ address, gateway }) => (
      <>
        <span className="mono">{address}</span>
        <span className="table-second">{gateway}</span>
      </>
    ),
  },
  {
    id: 'since',
    title: 'Opened',
    sortBy: ({ since }) => since,
    csv: ({ since }) => new Date(since).toISOString(),
    cell: ({ since }) => <Ago at={since} />,
  },
  {
    id: 'subscriptions',
    title: 'Subscriptions',
    align: 'end',
    sortBy: ({ subscriptions }) => subscriptions,
    csv: ({ subscriptions }) => subscriptions,
    cell: ({ subscriptions }) => formatCount(subscriptions),
  },
  {
    id: 'rate',
    title: 'Messages/s',
    align: 'end',
    sortBy: ({ messagesPerSecond }) => messagesPerSecond,
    csv: ({ messagesPerSecond }) => messagesPerSecond,
    cell: ({ messagesPerSecond, bytesPerSecond }) => (
      <>
        {messagesPerSecond.toFixed(1)}
        <span className="table-second">{formatBytes(bytesPerSecond)}/s</span>
      </>
    ),
  },
  {
    id: 'waiting',
    title: 'Queued',
    align: 'end',
    sortBy: ({ queuedMessages }) => queuedMessages,
    csv: ({ queuedMessages }) => queuedMessages,
    cell: ({ queuedMessages, queuedBytes }) => (
      <>
        {formatCount(queuedMessages)}
        <span className="table-second">{formatBytes(queuedBytes)}</span>
      </>
    ),
  },
];
