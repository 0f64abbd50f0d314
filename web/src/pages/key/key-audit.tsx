import { useCall } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { FormError } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { actionNameOf, detailOf } from '../audit/audit-entry.ts';
import { Actor } from '../audit/audit-table.tsx';

const LINES_MAX = 100;
const SINCE = 0;

export function KeyAudit({ keyId }: { keyId: string }) {
  const { customer } = useSession();
  const audit = useCall('GET /customers/{customer}/audit', {
    path: { customer: customer.id },
    query: { key: keyId, limit: LINES_MAX, from: SINCE },
  });
  if (audit.data === undefined)
    return audit.error === null ? <Skeleton /> : <FormError problem={audit.error} />;
  return (
    <Table
      caption="Audit log for this API key"
      rows={audit.data.items}
      rowKey={({ id }) => String(id)}
      csvName={`solway-${keyId}-audit`}
      empty={<p className="muted">No changes recorded.</p>}
      columns={[
        {
          id: 'at',
          title: 'Time (UTC)',
          sortBy: ({ at }) => at,
          csv: ({ at }) => new Date(at).toISOString(),
          cell: ({ at }) => <Time at={at} />,
        },
        {
          id: 'action',
          title: 'Action',
          sortBy: ({ action }) => action,
          csv: ({ action }) => action,
          cell: (entry) => (
            <>
              <strong>{actionNameOf(entry.action)}</strong>
              <span className="table-second">{detailOf(entry)}</span>
            </>
          ),
        },
        {
          id: 'actor',
          title: 'Actor',
          sortBy: ({ actor }) => actor,
          csv: ({ actor }) => actor,
          cell: ({ actor }) => <Actor actor={actor} />,
        },
        {
          id: 'address',
          title: 'IP address',
          csv: ({ address }) => address,
          cell: ({ address }) => <span className="mono">{address ?? '–'}</span>,
        },
      ]}
    />
  );
}
