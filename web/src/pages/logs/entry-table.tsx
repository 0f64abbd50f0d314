import { useMemo } from 'react';
import type { LogEntryJson } from '../../../../src/control/api/contract/logs.ts';
import { formatBytes, formatMs } from '../../format.ts';
import { outcomes } from '../../outcomes.ts';
import { useSession } from '../../shell/session.tsx';
import { firstCall } from '../../snippets.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { ShortTime } from '../../ui/time.tsx';

type Narrow = (change: { method?: string; address?: string }) => void;

const HTTP_OK = 200;

export const codeOf = ({ failure, rpcCode }: LogEntryJson): string =>
  failure ?? (rpcCode === 0 ? '' : String(rpcCode));

const nodeColumn: Column<LogEntryJson> = {
  id: 'node',
  title: 'Node',
  wideOnly: true,
  cell: ({ node }) => node ?? '–',
  sortBy: ({ node }) => node,
  csv: ({ node }) => node,
};

const columnsOf = (
  onOpen: (id: string) => void,
  onNarrow: Narrow,
  isOperator: boolean,
): Column<LogEntryJson>[] => [
  {
    id: 'at',
    title: 'Time (UTC)',
    cell: ({ id, at, method }) => (
      <Button kind="quiet" size="s" className="link-button mono" onClick={() => onOpen(id)}>
        <ShortTime at={at} />
        <span className="visually-hidden"> Open {method}</span>
      </Button>
    ),
    sortBy: ({ at }) => at,
    csv: ({ at }) => new Date(at).toISOString(),
  },
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
    cell: ({ method }) =>
      method === '' ? (
        '–'
      ) : (
        <Button
          kind="quiet"
          size="s"
          className="plain-button mono"
          title={`Filter by ${method}`}
          onClick={() => onNarrow({ method })}
        >
          {method}
        </Button>
      ),
    sortBy: ({ method }) => method,
    csv: ({ method }) => method,
  },
  {
    id: 'code',
    title: 'Code',
    cell: (entry) => (
      <>
        <code>{codeOf(entry) || '–'}</code>
        {entry.http === 0 || entry.http === HTTP_OK ? null : <span className="muted"> {entry.http}</span>}
      </>
    ),
    sortBy: codeOf,
    csv: codeOf,
  },
  {
    id: 'message',
    title: 'Message',
    wideOnly: true,
    cell: ({ message }) => (
      <span className="short" title={message ?? ''}>
        {message ?? '–'}
      </span>
    ),
    sortBy: ({ message }) => message,
    csv: ({ message }) => message,
  },
  {
    id: 'ms',
    title: 'Latency',
    align: 'end',
    cell: ({ ms }) => formatMs(ms),
    sortBy: ({ ms }) => ms,
    csv: ({ ms }) => ms,
  },
  {
    id: 'bytes',
    title: 'Response size',
    align: 'end',
    wideOnly: true,
    cell: ({ bytesOut }) => formatBytes(bytesOut),
    sortBy: ({ bytesOut }) => bytesOut,
    csv: ({ bytesOut }) => bytesOut,
  },
  {
    id: 'key',
    title: 'API key',
    wideOnly: true,
    cell: ({ keyId, keyName }) => (
      <span className="short" title={`${keyName ?? ''} ${keyId ?? ''}`}>
        {keyName ?? keyId ?? '–'}
      </span>
    ),
    sortBy: ({ keyName, keyId }) => keyName ?? keyId,
    csv: ({ keyId }) => keyId,
  },
  ...(isOperator ? [nodeColumn] : []),
  {
    id: 'address',
    title: 'IP address',
    wideOnly: true,
    cell: ({ address }) => (
      <Button
        kind="quiet"
        size="s"
        className="plain-button mono"
        title={`Filter by ${address}`}
        onClick={() => onNarrow({ address })}
      >
        {address}
      </Button>
    ),
    sortBy: ({ address }) => address,
    csv: ({ address }) => address,
  },
];

export function EntryTable({
  rows,
  isNarrowed,
  hasMore,
  onOpen,
  onNarrow,
}: {
  rows: readonly LogEntryJson[];
  isNarrowed: boolean;
  /** Whether older entries have not been searched yet. */
  hasMore: boolean;
  onOpen: (id: string) => void;
  onNarrow: Narrow;
}) {
  const { service, user } = useSession();
  const { isOperator } = user;
  const columns = useMemo(() => columnsOf(onOpen, onNarrow, isOperator), [onOpen, onNarrow, isOperator]);
  return (
    <Table
      caption="Requests"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      csvName="requests"
      empty={
        isNarrowed ? (
          <EmptyState
            title={hasMore ? 'No match among the newest requests' : 'No requests match the filters'}
          >
            {hasMore
              ? 'Load more requests to search older ones.'
              : 'Remove a filter or choose a longer time range.'}
          </EmptyState>
        ) : (
          <EmptyState title="No requests in this time range" snippet={firstCall(service.urls)}>
            Send a request with an API key, or choose a longer time range. Requests appear within about a
            second.
          </EmptyState>
        )
      }
    />
  );
}
