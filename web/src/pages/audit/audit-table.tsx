import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { useKeyNames } from '../../key-names.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { AuditDrawer } from './audit-drawer.tsx';
import { type AuditEntry, actionNameOf, actorOf, detailOf } from './audit-entry.ts';
import { useCustomerNames } from './customer-names.ts';

type NameOf = (id: string | null) => string;

const columnsOf = (
  onOpen: (entry: AuditEntry) => void,
  keyNameOf: NameOf,
  customerNameOf: NameOf | null,
): Column<AuditEntry>[] => [
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
  ...(customerNameOf === null ? [] : [customerColumn(customerNameOf)]),
  {
    id: 'key',
    title: 'API key',
    cell: ({ keyId }) =>
      keyId === null ? (
        '–'
      ) : (
        <Link to="/keys/$key" params={{ key: keyId }} title={keyId}>
          {keyNameOf(keyId)}
        </Link>
      ),
    sortBy: ({ keyId }) => keyNameOf(keyId),
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

const customerColumn = (nameOf: NameOf): Column<AuditEntry> => ({
  id: 'customer',
  title: 'Customer',
  cell: ({ customerId = null }) => <span title={customerId ?? ''}>{nameOf(customerId)}</span>,
  sortBy: ({ customerId = null }) => nameOf(customerId),
  csv: ({ customerId = null }) => customerId,
});

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
  const keyNameOf = useKeyNames();
  const customerNameOf = useCustomerNames(hasCustomers);
  const columns = useMemo(
    () => columnsOf(setOpen, keyNameOf, hasCustomers ? customerNameOf : null),
    [keyNameOf, customerNameOf, hasCustomers],
  );
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
      {open === null ? null : (
        <AuditDrawer
          entry={open}
          keyName={keyNameOf(open.keyId)}
          customerName={customerNameOf(open.customerId ?? null)}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}
