import { useMemo } from 'react';
import { addressOf, call } from '../../api.ts';
import { useFilters } from '../../filters.ts';
import { usePagedList } from '../../paged-list.ts';
import { useRangedCall } from '../../queries.ts';
import { useFrameSearch, useRange } from '../../range.ts';
import { KeySwitch } from '../../shell/key-switch.tsx';
import { useSession } from '../../shell/session.tsx';
import { MoreButton } from '../../ui/more-button.tsx';
import { Pending } from '../../ui/pending.tsx';
import { type AuditEntry, storedActionOf } from './audit-entry.ts';
import { AuditTable } from './audit-table.tsx';
import { AuditTools, NoEvents } from './audit-tools.tsx';

const fields = ['action', 'actor'] as const;
const PAGE_ROWS = 100;
const idOf = ({ id }: AuditEntry): string => String(id);

export function CustomerAudit() {
  const { customer } = useSession();
  const { key } = useFrameSearch();
  const range = useRange();
  const [{ action, actor }, change] = useFilters(fields);
  const path = { customer: customer.id };
  const query = { key, action: storedActionOf(action), actor, limit: PAGE_ROWS };
  const audit = useRangedCall('GET /customers/{customer}/audit', { path, query });
  const list = usePagedList<AuditEntry>(`${range.id} ${key} ${action} ${actor}`, audit.data, idOf, (cursor) =>
    call('GET /customers/{customer}/audit', { path, query: { ...query, ...range.bounds(), cursor } }),
  );
  const bounds = useMemo(() => range.bounds(), [range]);
  return (
    <div className="stack">
      <AuditTools
        action={action}
        actor={actor}
        onFilter={change}
        exportAddress={addressOf('GET /customers/{customer}/audit.jsonl', {
          path,
          query: { key, action: query.action, actor, ...bounds },
        })}
      >
        <KeySwitch />
      </AuditTools>
      <Pending query={audit}>
        {() => (
          <>
            <AuditTable
              entries={list.items}
              empty={
                <NoEvents isFiltered={action !== undefined || actor !== undefined || key !== undefined} />
              }
            />
            {list.items.length === 0 ? null : <MoreButton list={list} what="event" />}
          </>
        )}
      </Pending>
    </div>
  );
}
