import { sql } from 'kysely';
import { chunk } from '../../base/chunk.ts';
import type { LastUse, LastUsedTracker } from '../../gateway/metering/last-used.ts';
import type { Store } from '../database/store.ts';
import { PeriodicTask } from '../periodic-task.ts';

const INTERVAL_MS = 5_000;
const BATCH_KEYS = 200;

type LastUsedWriterOptions = Readonly<{ store: Store; source: LastUsedTracker; batchKeys?: number }>;

/** Stores when and from which address each key was last used. Retries failed writes at the next run. */
export const lastUsedWriter = (options: LastUsedWriterOptions): PeriodicTask =>
  new PeriodicTask(() => writeUses(options).catch(() => undefined), INTERVAL_MS);

async function writeUses({ store, source, batchKeys = BATCH_KEYS }: LastUsedWriterOptions): Promise<void> {
  // Sorted: writing in the same order on all gateways avoids deadlocks.
  const uses = source.unsaved(Date.now()).toSorted((one, other) => (one.keyId < other.keyId ? -1 : 1));
  for (const batch of chunk(uses, batchKeys)) {
    await writeLastUsed(store, batch);
    source.markSaved(batch);
  }
  source.evictIdle(Date.now());
}

/** Even a use older than the stored use updates the address, if the difference is less than this. */
const CLOSE_MS = 60_000;

/**
 * Stores the last use of keys, but never an earlier time: another gateway may have stored a later use. Unlike a
 * CASE list, the join keeps the cost linear in the number of keys.
 */
async function writeLastUsed({ db }: Store, uses: readonly LastUse[]): Promise<void> {
  const rows = uses.map(
    ({ keyId, at, from }) => sql`(${keyId}, cast(${at} as bigint), cast(${from} as text))`,
  );
  const update = sql`with used (key_id, at, place) as (values ${sql.join(rows)})
    update api_key
    set last_used_at = case when last_used_at > used.at then last_used_at else used.at end,
      last_used_from = coalesce(used.place, last_used_from)
    from used
    where api_key.id = used.key_id
      and (last_used_at is null or last_used_from is null or last_used_at < used.at + ${sql.lit(CLOSE_MS)})`;
  await update.execute(db);
}
