import { type ReactNode, useMemo } from 'react';
import { formatCount, formatMs } from '../../format.ts';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { landedAt, type Submission, transactionStatusOf } from './transaction-status.ts';

const shortOf = (signature: string): string => `${signature.slice(0, 8)}…${signature.slice(-6)}`;

const columnsOf = (onOpen: (item: Submission) => void): Column<Submission>[] => [
  {
    id: 'at',
    title: 'Sent (UTC)',
    cell: ({ at }) => <Time at={at} />,
    sortBy: ({ at }) => at,
    csv: ({ at }) => new Date(at).toISOString(),
  },
  {
    id: 'signature',
    title: 'Signature',
    cell: (item) => (
      <Button
        kind="quiet"
        size="s"
        className="link-button mono"
        title={item.signature}
        onClick={() => onOpen(item)}
      >
        {shortOf(item.signature)}
      </Button>
    ),
    csv: ({ signature }) => signature,
  },
  {
    id: 'landing',
    title: 'Status',
    cell: (item) => {
      const { label, tone } = transactionStatusOf(item, Date.now());
      return <Chip tone={tone}>{label}</Chip>;
    },
    sortBy: (item) => transactionStatusOf(item, Date.now()).label,
    csv: ({ status, fate }) => status?.err ?? status?.confirmation ?? fate?.err ?? fate?.name ?? null,
  },
  {
    id: 'slot',
    title: 'Slot',
    align: 'end',
    wideOnly: true,
    cell: (item) => <span className="mono">{landedAt(item).slot ?? '–'}</span>,
    sortBy: slotOf,
    csv: (item) => landedAt(item).slot,
  },
  {
    id: 'outcome',
    title: 'Node response',
    cell: ({ outcome }) => outcome,
    sortBy: ({ outcome }) => outcome,
    csv: ({ outcome }) => outcome,
  },
  {
    id: 'attempts',
    title: 'Attempts',
    align: 'end',
    cell: ({ attempts }) => formatCount(attempts.length),
    sortBy: ({ attempts }) => attempts.length,
    csv: ({ attempts }) => attempts.length,
  },
  {
    id: 'rebroadcasts',
    title: 'Rebroadcasts',
    align: 'end',
    wideOnly: true,
    cell: ({ rebroadcasts }) => formatCount(rebroadcasts),
    sortBy: ({ rebroadcasts }) => rebroadcasts,
    csv: ({ rebroadcasts }) => rebroadcasts,
  },
  {
    id: 'ms',
    title: 'Fastest',
    align: 'end',
    wideOnly: true,
    cell: ({ attempts }) => formatMs(fastest(attempts)),
    sortBy: ({ attempts }) => fastest(attempts),
    csv: ({ attempts }) => fastest(attempts),
  },
  {
    id: 'key',
    title: 'API key',
    wideOnly: true,
    cell: ({ keyId, keyName }) => (
      <span className="short" title={`${keyName ?? ''} ${keyId}`}>
        {keyName ?? keyId}
      </span>
    ),
    sortBy: ({ keyName, keyId }) => keyName ?? keyId,
    csv: ({ keyId }) => keyId,
  },
  {
    id: 'network',
    title: 'Network',
    wideOnly: true,
    cell: ({ network }) => network,
    sortBy: ({ network }) => network,
    csv: ({ network }) => network,
  },
];

function slotOf(item: Submission): number | null {
  const { slot } = landedAt(item);
  return slot === null ? null : Number(slot);
}

const fastest = (attempts: Submission['attempts']): number | null =>
  attempts.length === 0 ? null : Math.min(...attempts.map(({ ms }) => ms));

export function SubmissionTable({
  items,
  onOpen,
  empty,
}: {
  items: readonly Submission[];
  onOpen: (item: Submission) => void;
  empty: ReactNode;
}) {
  const columns = useMemo(() => columnsOf(onOpen), [onOpen]);
  return (
    <Table
      caption="Transactions"
      columns={columns}
      rows={items}
      rowKey={({ signature, at }) => `${signature} ${at}`}
      csvName="transactions"
      empty={empty}
    />
  );
}
