import { useMemo, useState } from 'react';
import type { LogEntryJson } from '../../../../src/control/api/contract/logs.ts';
import { addressOf, call } from '../../api.ts';
import { useFilters } from '../../filters.ts';
import { usePagedList } from '../../paged-list.ts';
import { useRangedCall } from '../../queries.ts';
import { useFrameSearch, useRange } from '../../range.ts';
import { KeySwitch } from '../../shell/key-switch.tsx';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { FilterChips } from '../../ui/filter-chips.tsx';
import { MoreButton } from '../../ui/more-button.tsx';
import { Pending } from '../../ui/pending.tsx';
import { EntryDrawer } from './entry-drawer.tsx';
import { EntryTable } from './entry-table.tsx';
import { FilterBar } from './filter-bar.tsx';
import { Histogram } from './histogram.tsx';
import { LiveSwitch } from './live-switch.tsx';
import { useLiveTail } from './live-tail.ts';
import { chipsOf, type LogFields, logFields, queryOf, validFilters } from './log-filters.ts';
import { Sampling } from './sampling.tsx';
import '../../styles/traffic.css';
import '../../styles/logs.css';

const PAGE_ROWS = 100;

const idOf = ({ id }: LogEntryJson): string => id;

export function LogsPage() {
  const { customer } = useSession();
  const { key } = useFrameSearch();
  const range = useRange();
  const [searched, change] = useFilters(logFields);
  const fields = useMemo(() => validFilters(searched), [searched]);
  const query = useLogQuery(fields, key);
  const path = { customer: customer.id };
  const logs = useRangedCall('GET /customers/{customer}/logs', {
    path,
    query: { ...query, limit: PAGE_ROWS },
  });
  const histogram = useRangedCall('GET /customers/{customer}/logs/histogram', { path, query });
  const list = usePagedList(`${range.id} ${JSON.stringify(query)}`, logs.data, idOf, (cursor) =>
    call('GET /customers/{customer}/logs', {
      path,
      query: { ...query, ...range.bounds(), limit: PAGE_ROWS, cursor },
    }),
  );
  const [frozen, setFrozen] = useState<readonly LogEntryJson[] | null>(null);
  const isPaused = frozen !== null;
  const isLive = fields.live === '1';
  const tail = useLiveTail(
    isLive ? addressOf('GET /customers/{customer}/logs/tail', { path, query }) : null,
    isPaused,
  );
  const moving = useMemo(
    () => mergeRows(isLive ? tail.rows : [], list.items),
    [isLive, tail.rows, list.items],
  );
  const rows = frozen ?? moving;
  const close = (): void => change({ entry: undefined });

  return (
    <Page
      title="Logs"
      question="Search individual requests, and see why they failed."
      updatedAt={logs.dataUpdatedAt}
      ranged
      actions={<KeySwitch />}
    >
      <FilterBar fields={fields} change={change} />
      <FilterChips
        chips={chipsOf(fields)}
        onRemove={(ids) => change(Object.fromEntries(ids.map((id) => [id, undefined])))}
      />
      <Pending query={logs}>
        {({ sampling }) => (
          <>
            {histogram.data === undefined ? null : <Histogram histogram={histogram.data} />}
            <div className="row-apart">
              <Sampling sampling={sampling} />
              <LiveSwitch
                tail={tail}
                isLive={isLive}
                isPaused={isPaused}
                onLive={(live) => {
                  setFrozen(null);
                  change({ live: live ? '1' : undefined });
                }}
                onPause={(pause) => setFrozen(pause ? moving : null)}
              />
            </div>
            <EntryTable
              rows={rows}
              isNarrowed={chipsOf(fields).length > 0}
              hasMore={list.hasMore}
              onOpen={(entry) => change({ entry })}
              onNarrow={change}
            />
            {isPaused || (rows.length === 0 && !list.hasMore) ? null : (
              <MoreButton list={list} what="request" />
            )}
          </>
        )}
      </Pending>
      {fields.entry === undefined ? null : <EntryDrawer id={fields.entry} onClose={close} />}
    </Page>
  );
}

function useLogQuery(fields: LogFields, key: string | undefined) {
  return useMemo(() => queryOf(fields, key), [fields, key]);
}

function mergeRows(tail: readonly LogEntryJson[], fetched: readonly LogEntryJson[]): readonly LogEntryJson[] {
  if (tail.length === 0) return fetched;
  const all = new Map([...tail, ...fetched].map((entry) => [entry.id, entry]));
  return [...all.values()].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
}
