import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { LastUse } from '../../gateway/metering/last-used.ts';
import type { Store } from '../database/open.ts';

/** Where uses come from: access/key-uses.ts. */
export interface LastUsedSource {
  unsaved(nowMs: number): LastUse[];
  markSaved(uses: readonly LastUse[]): void;
  evictIdle(nowMs: number): void;
}

/** What holds when nothing else is said. */
export const lastUsedWriterOptions = { intervalMs: 5_000, batchKeys: 200 } as const;

export type LastUsedWriterOptions = Readonly<{
  store: Store;
  source: LastUsedSource;
  intervalMs?: number;
  /** Keys in one statement. */
  batchKeys?: number;
}>;

/**
 * Writes when keys were used last and from where, to within half a minute of the truth. What cannot be written is tried
 * again with the next; it is a help to people and not accounted.
 */
export class LastUsedWriter {
  readonly #options: Required<LastUsedWriterOptions>;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;

  constructor(options: LastUsedWriterOptions) {
    this.#options = { ...lastUsedWriterOptions, ...options };
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), this.#options.intervalMs);
  }

  /** Writes what is there. Never rejects. */
  flush(): Promise<void> {
    this.#writing ??= this.#write()
      .catch(() => undefined)
      .finally(() => {
        this.#writing = null;
      });
    return this.#writing;
  }

  /** Stops the timer and writes once more. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#writing;
    await this.flush();
  }

  async #write(): Promise<void> {
    const { store, source, batchKeys } = this.#options;
    // In one order on all gateways, so that none holds a row that another waits for while it waits itself.
    const uses = source.unsaved(Date.now()).toSorted((one, other) => (one.keyId < other.keyId ? -1 : 1));
    for (let from = 0; from < uses.length; from += batchKeys) {
      const batch = uses.slice(from, from + batchKeys);
      await writeLastUsed(store, batch);
      source.markSaved(batch);
      // An embedded store answers without letting anybody else have a turn.
      await setImmediate();
    }
    source.evictIdle(Date.now());
  }
}

/** Of uses so close to each other, any is the last one. */
const CLOSE_MS = 60_000;

/**
 * Moves the last use of keys forward, never back: another gateway may have seen a later one. Each key's row is found once,
 * however many there are: a list of cases would be walked for each.
 */
async function writeLastUsed({ db }: Store, uses: readonly LastUse[]): Promise<void> {
  const rows = uses.map(
    ({ keyId, at, from }) => sql`(${keyId}, cast(${at} as bigint), cast(${from} as text))`,
  );
  await sql`with used (key_id, at, place) as (values ${sql.join(rows)})
    update api_key
    set last_used_at = case when last_used_at > used.at then last_used_at else used.at end,
      last_used_from = coalesce(used.place, last_used_from)
    from used
    where api_key.id = used.key_id
      and (last_used_at is null or last_used_from is null or last_used_at < used.at + ${sql.lit(CLOSE_MS)})`.execute(
    db,
  );
}
