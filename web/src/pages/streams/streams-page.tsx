import { useState } from 'react';
import type { ConnectionJson } from '../../../../src/control/api/contract/logs.ts';
import { formatBytes, formatCount, formatRate } from '../../format.ts';
import { useCall } from '../../queries.ts';
import { useFrameSearch } from '../../range.ts';
import { KeySwitch } from '../../shell/key-switch.tsx';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { snippetsFor } from '../../snippets.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Pending } from '../../ui/pending.tsx';
import { Tile } from '../../ui/tile.tsx';
import { CloseDialog } from './close-dialog.tsx';
import { ConnectionTable } from './connection-table.tsx';
import { useRecentValues } from './recent-values.ts';
import '../../styles/traffic.css';

const REFETCH_MS = 2_000;

export function StreamsPage() {
  const { customer } = useSession();
  const { key } = useFrameSearch();
  const connections = useCall(
    'GET /customers/{customer}/connections',
    { path: { customer: customer.id }, query: { key } },
    { refetchMs: REFETCH_MS, keepPrevious: true },
  );
  const [closing, setClosing] = useState<ConnectionJson | null>(null);
  const recent = useRecentValues(connections.data?.totals, connections.dataUpdatedAt);

  return (
    <Page
      title="Streams"
      question="Open WebSocket connections and gRPC streams."
      updatedAt={connections.dataUpdatedAt}
      actions={<KeySwitch />}
    >
      <Pending query={connections}>
        {({ items, totals, laggedLastHour }) => (
          <>
            <div className="tiles">
              <Tile
                label="WebSocket connections"
                value={formatCount(totals.websocket)}
                values={recent('websocket')}
              />
              <Tile label="gRPC streams" value={formatCount(totals.grpc)} values={recent('grpc')} />
              <Tile
                label="Messages/s"
                value={formatRate(totals.messagesPerSecond)}
                values={recent('messagesPerSecond')}
              />
              <Tile
                label="Bytes/s"
                value={formatBytes(totals.bytesPerSecond)}
                values={recent('bytesPerSecond')}
              />
              <Tile
                label="Slow-consumer disconnects"
                value={formatCount(laggedLastHour)}
                note={
                  laggedLastHour === 0
                    ? 'None in the last hour'
                    : 'in the last hour; narrow filters or read faster'
                }
              />
            </div>
            <ConnectionTable items={items} onClose={setClosing} empty={<NoConnections />} />
          </>
        )}
      </Pending>
      {closing === null ? null : <CloseDialog connection={closing} onDone={() => setClosing(null)} />}
    </Page>
  );
}

function NoConnections() {
  const { service } = useSession();
  const wscat = snippetsFor('rpc', service.urls, '<API_KEY>').find(({ id }) => id === 'wscat');
  return (
    <EmptyState title="No open connections" {...(wscat === undefined ? {} : { snippet: wscat.text })}>
      Open connections appear here with their subscriptions, message rates, and queued messages.
    </EmptyState>
  );
}
