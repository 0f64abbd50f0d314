import { useMemo } from 'react';
import { addressOf, call } from '../../api.ts';
import { useFilters } from '../../filters.ts';
import { usePagedList } from '../../paged-list.ts';
import { useRangedCall } from '../../queries.ts';
import { useRange } from '../../range.ts';
import { MoreButton } from '../../ui/more-button.tsx';
import { Pending } from '../../ui/pending.tsx';
import { type AuditEntry, storedActionOf } from './audit-entry.ts';
import { AuditTable } from './audit-table.tsx';
import { AuditTools, NoEvents } from './audit-tools.tsx';

const fields = ['action', 'actor'] as const;
const PAGE_ROWS = 100;
const idOf = ({ id }: AuditEntry): string => String(id);

export function AllAudit() {
  const range = useRange();
  const [{ action, actor }, change] = useFilters(fields);
  const query = { action: storedActionOf(action), actor, limit: PAGE_ROWS };
  const audit = useRangedCall('GET /audit', { query });
  const list = usePagedList<AuditEntry>(`all ${range.id} ${action} ${actor}`, audit.data, idOf, (cursor) =>
    call('GET /audit', { query: { ...query, ...range.bounds(), cursor } }),
  );
  const bounds = useMemo(() => range.bounds(), [range]);
  return (
    <div className="stack">
      <AuditTools
        action={action}
        actor={actor}
        onFilter={change}
        exportAddress={addressOf('GET /audit.jsonl', { query: bounds })}
      />
      <Pending query={audit}>
        {() => (
          <>
            <AuditTable
              entries={list.items}
              hasCustomers
              empty={<NoEvents isFiltered={action !== undefined || actor !== undefined} />}
            />
            {list.items.length === 0 ? null : <MoreButton list={list} what="event" />}
          </>
        )}
      </Pending>
    </div>
  );
}
