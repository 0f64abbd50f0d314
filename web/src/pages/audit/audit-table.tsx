import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { AuditDrawer } from './audit-drawer.tsx';
import { type AuditEntry, actionNameOf, actorOf, detailOf } from './audit-entry.ts';

const columnsOf = (onOpen: (entry: AuditEntry) => void, hasCustomers: boolean): Column<AuditEntry>[] => [
  {
    id: 'at',
    title: 'Time (UTC)',
    cell: (entry) => (
      <Button kind="quiet" size="s" className="link-button" onClick={() => onOpen(entry)}>
        <Time at={entry.at} />
        <span className="visually-hidden"> Open {actionNameOf(entry.action)}</span>
      </Button>
    ),
    sortBy: ({ at }) => at,
    csv: ({ at }) => new Date(at).toISOString(),
  },
  {
    id: 'action',
    title: 'Action',
    cell: ({ action }) => <code>{actionNameOf(action)}</code>,
    sortBy: ({ action }) => actionNameOf(action),
    csv: ({ action }) => action,
  },
  {
    id: 'actor',
    title: 'Actor',
    cell: ({ actor }) => <Actor actor={actor} />,
    sortBy: ({ actor }) => actor,
    csv: ({ actor }) => actor,
  },
  ...(hasCustomers ? [customerColumn] : []),
  {
    id: 'key',
    title: 'API key',
    cell: ({ keyId, keyName }) =>
      keyId === null ? (
        '–'
      ) : (
        <Link to="/keys/$key" params={{ key: keyId }} title={keyId}>
          {keyName ?? keyId}
        </Link>
      ),
    sortBy: ({ keyName, keyId }) => keyName ?? keyId,
    csv: ({ keyId }) => keyId,
  },
  {
    id: 'detail',
    title: 'Details',
    wideOnly: true,
    cell: (entry) => <span className="detail-words">{detailOf(entry) || '–'}</span>,
    csv: detailOf,
  },
  {
    id: 'address',
    title: 'IP address',
    wideOnly: true,
    cell: ({ address }) => (address === null ? '–' : <span className="mono">{address}</span>),
    sortBy: ({ address }) => address,
    csv: ({ address }) => address,
  },
];

const customerColumn: Column<AuditEntry> = {
  id: 'customer',
  title: 'Customer',
  cell: ({ customerId, customerName }) => (
    <span title={customerId ?? ''}>{customerName ?? customerId ?? '–'}</span>
  ),
  sortBy: ({ customerId, customerName }) => customerName ?? customerId,
  csv: ({ customerId }) => customerId,
};

export function Actor({ actor }: { actor: string }) {
  const { name, kind } = actorOf(actor);
  return (
    <span className="stacked-words">
      {name}
      {kind === null ? null : <span className="muted">{kind}</span>}
    </span>
  );
}

export function AuditTable({
  entries,
  hasCustomers = false,
  empty,
}: {
  entries: readonly AuditEntry[];
  hasCustomers?: boolean;
  empty: ReactNode;
}) {
  const [open, setOpen] = useState<AuditEntry | null>(null);
  const columns = useMemo(() => columnsOf(setOpen, hasCustomers), [hasCustomers]);
  return (
    <>
      <Table
        caption="Audit log"
        columns={columns}
        rows={entries}
        rowKey={({ id }) => String(id)}
        csvName="audit"
        empty={empty}
      />
      {open === null ? null : <AuditDrawer entry={open} onClose={() => setOpen(null)} />}
    </>
  );
}
