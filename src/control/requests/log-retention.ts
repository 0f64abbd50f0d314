import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Store } from '../database/open.ts';
import { claim, releaseClaim } from '../usage/usage-claim.ts';
import { firstIdAt } from './entry-id.ts';
import { type RetainedTable, RowCounts, retainedTables } from './row-counts.ts';

/** How much of the log is kept. */
export type RetentionLimits = Readonly<{
  retentionHours: number;
  /** Rows of one customer. */
  customerRowsMax: number;
  /** Rows in all. */
  rowsMax: number;
}>;

/** What holds when nothing else is said. */
export const retentionLimits: RetentionLimits = {
  retentionHours: 72,
  customerRowsMax: 50_000,
  rowsMax: 500_000,
};

const HOUR_MS = 3_600_000;
/** Rows deleted at once; small enough that an embedded store blocks for a few milliseconds. */
const STEP_ROWS = 100;
/** What began in this time is not counted yet: other gateways may still write it. */
const SETTLE_MS = 30_000;
const CLAIM = 'log-retention';
/** How long a gateway that stopped without a word keeps others from taking over. */
const CLAIM_MS = 180_000;

/** Which rows are to go: of one customer or of all, up to an id, at most so many. */
type Range = Readonly<{ customer?: string; before?: string; rows?: number }>;

/**
 * Deletes what is too old, then what is too much, the oldest first: at a time, one of the gateways that share a store.
 */
export class LogRetention {
  readonly #holder = randomUUID();
  readonly #store: Store;
  readonly #limits: RetentionLimits;
  readonly #counts: ReadonlyMap<RetainedTable, RowCounts>;

  constructor(store: Store, limits: RetentionLimits) {
    this.#store = store;
    this.#limits = limits;
    this.#counts = new Map(retainedTables.map((table) => [table, new RowCounts(store, table)]));
  }

  /** Does it, if no other gateway does. @param nowMs - Unix milliseconds. */
  async prune(nowMs: number): Promise<void> {
    const isMine = await claim(this.#store, CLAIM, this.#holder, nowMs, CLAIM_MS);
    for (const [table, counts] of this.#counts) {
      // Who deletes meanwhile tells nobody of it.
      if (!isMine) counts.forget();
      else await this.#pruneTable(table, counts, nowMs);
    }
  }

  /** Lets another take over. */
  async stop(): Promise<void> {
    await releaseClaim(this.#store, CLAIM, this.#holder).catch(() => undefined);
  }

  async #pruneTable(table: RetainedTable, counts: RowCounts, nowMs: number): Promise<void> {
    const { retentionHours, customerRowsMax, rowsMax } = this.#limits;
    await counts.update(nowMs - SETTLE_MS);
    await this.#delete(table, counts, { before: firstIdAt(nowMs - retentionHours * HOUR_MS) });
    for (const [customer, rows] of [...counts.byCustomer]) {
      if (rows > customerRowsMax)
        await this.#delete(table, counts, { customer, rows: rows - customerRowsMax });
    }
    const over = counts.total - rowsMax;
    if (over > 0) await this.#delete(table, counts, { rows: over });
  }

  async #delete(table: RetainedTable, counts: RowCounts, range: Range): Promise<void> {
    const { customer, before, rows = Number.POSITIVE_INFINITY } = range;
    const { db } = this.#store;
    for (let deleted = 0; deleted < rows; ) {
      const step = Math.min(STEP_ROWS, rows - deleted);
      let some = db.selectFrom(table).select(['id', 'customer_id']).orderBy('id').limit(step);
      if (customer !== undefined) some = some.where('customer_id', '=', customer);
      if (before !== undefined) some = some.where('id', '<', before);
      const found = await some.execute();
      if (found.length === 0) return;
      const ids = found.map(({ id }) => id);
      await db.deleteFrom(table).where('id', 'in', ids).execute();
      counts.subtract(found.map((row) => row.customer_id));
      deleted += found.length;
      if (found.length < step) return;
      await setImmediate();
    }
  }
}
