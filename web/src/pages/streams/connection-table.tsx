import { type ReactNode, useMemo } from 'react';
import type { ConnectionJson } from '../../../../src/control/api/contract/logs.ts';
import { formatBytes, formatCount, formatRate } from '../../format.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';

type ConnectionColumn = Column<ConnectionJson>;

const QUEUED_MANY = 100;

const columns: ConnectionColumn[] = [
  {
    id: 'kind',
    title: 'Type',
    cell: ({ kind, rpc }) => (
      <span className="stacked-words">
        {kind === 'websocket' ? 'WebSocket' : 'gRPC'}
        {rpc === null ? null : (
          <span className="muted mono" title={rpc}>
            {rpc.slice(rpc.lastIndexOf('/') + 1)}
          </span>
        )}
      </span>
    ),
    sortBy: ({ kind, rpc }) => `${kind} ${rpc ?? ''}`,
    csv: ({ kind, rpc }) => rpc ?? kind,
  },
  {
    id: 'key',
    title: 'API key',
    cell: ({ keyId, keyName }) => (
      <span className="short" title={`${keyName ?? ''} ${keyId}`}>
        {keyName ?? keyId}
      </span>
    ),
    sortBy: ({ keyName, keyId }) => keyName ?? keyId,
    csv: ({ keyId }) => keyId,
  },
  {
    id: 'about',
    title: 'Subscriptions',
    cell: ({ about, subscriptions }) => <About about={about} subscriptions={subscriptions} />,
    sortBy: ({ subscriptions }) => subscriptions,
    csv: ({ about }) => about.join('; '),
  },
  {
    id: 'rate',
    title: 'Messages/s',
    align: 'end',
    cell: ({ messagesPerSecond, messages }) => (
      <span title={`${formatCount(messages)} total`}>{formatRate(messagesPerSecond)}</span>
    ),
    sortBy: ({ messagesPerSecond }) => messagesPerSecond,
    csv: ({ messagesPerSecond }) => messagesPerSecond,
  },
  {
    id: 'bytes',
    title: 'Bytes/s',
    align: 'end',
    wideOnly: true,
    cell: ({ bytesPerSecond, bytes }) => (
      <span title={`${formatBytes(bytes)} total`}>{formatBytes(bytesPerSecond)}</span>
    ),
    sortBy: ({ bytesPerSecond }) => bytesPerSecond,
    csv: ({ bytesPerSecond }) => bytesPerSecond,
  },
  {
    id: 'queued',
    title: 'Queued',
    align: 'end',
    cell: ({ queuedMessages, queuedBytes }) =>
      queuedMessages === 0 && queuedBytes === 0 ? (
        '–'
      ) : (
        <Chip tone={queuedMessages >= QUEUED_MANY ? 'bad' : 'warn'}>
          {formatCount(queuedMessages)}, {formatBytes(queuedBytes)}
        </Chip>
      ),
    sortBy: ({ queuedBytes }) => queuedBytes,
    csv: ({ queuedMessages }) => queuedMessages,
  },
  {
    id: 'since',
    title: 'Opened',
    cell: ({ since }) => <Ago at={since} />,
    sortBy: ({ since }) => since,
    csv: ({ since }) => new Date(since).toISOString(),
  },
  {
    id: 'address',
    title: 'IP address',
    wideOnly: true,
    cell: ({ address, gateway }) => (
      <span className="stacked-words" title={`Gateway ${gateway}`}>
        <span className="mono">{address}</span>
        <span className="muted short">{gateway}</span>
      </span>
    ),
    sortBy: ({ address }) => address,
    csv: ({ address }) => address,
  },
];

const FILTERS_DISPLAYED_MAX = 2;

function About({ about, subscriptions }: Pick<ConnectionJson, 'about' | 'subscriptions'>) {
  if (subscriptions === 0) return <span className="muted">None</span>;
  const visible = about.slice(0, FILTERS_DISPLAYED_MAX);
  // `subscriptions` counts filters, and one summary may cover several.
  const more = about.length - visible.length;
  return (
    <span className="stacked-words about-words" title={about.join('\n')}>
      {visible.map((summary) => (
        <code key={summary} className="about">
          {summary}
        </code>
      ))}
      {more > 0 ? (
        <span className="muted">
          and {formatCount(more)} more, {formatCount(subscriptions)} total
        </span>
      ) : null}
    </span>
  );
}

export function ConnectionTable({
  items,
  onClose,
  empty,
}: {
  items: readonly ConnectionJson[];
  onClose: (connection: ConnectionJson) => void;
  empty: ReactNode;
}) {
  const { can } = useSession();
  const mayClose = can('developer');
  const all = useMemo<ConnectionColumn[]>(
    () => (mayClose ? [...columns, closeColumn(onClose)] : columns),
    [mayClose, onClose],
  );
  return (
    <Table
      caption="Open connections"
      columns={all}
      rows={items}
      rowKey={({ id }) => id}
      initialSort={{ column: 'since', down: true }}
      csvName="connections"
      empty={empty}
    />
  );
}

const closeColumn = (onClose: (connection: ConnectionJson) => void): ConnectionColumn => ({
  id: 'close',
  title: 'Close',
  hideTitle: true,
  align: 'end',
  cell: (connection) => (
    <Button size="s" onClick={() => onClose(connection)}>
      Close<span className="visually-hidden"> connection from {connection.address}</span>
    </Button>
  ),
});
