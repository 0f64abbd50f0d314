import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { chunk } from '../../base/chunk.ts';
import type { Store } from '../database/store.ts';
import { acquireLease, releaseLease } from '../usage/usage-lease.ts';
import { firstIdAt } from './entry-ids.ts';
import type { LogRow, LogStore } from './log-store.ts';
import { termRows } from './log-terms.ts';

const retainedTables = ['request_log', 'submission'] as const;
type RetainedTable = (typeof retainedTables)[number];

/** Rows per statement: few enough that other statements wait for only a few milliseconds. */
const COUNT_BATCH_ROWS = 2_000;
/** Time between full counts. Late writes and deletions by other gateways make the counts in between inexact. */
const COUNT_ALL_MS = 3_600_000;

/** Counts rows by customer: all rows once an hour, in small steps, and only new rows in between. */
class RowCounts {
  readonly table: RetainedTable;
  readonly #store: Store;
  readonly #counts = new Map<string, number>();
  /** Rows with smaller ids have been counted. */
  #before = '';
  #countAllAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store, table: RetainedTable) {
    this.#store = store;
    this.table = table;
  }

  get byCustomer(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  get total(): number {
    return [...this.#counts.values()].reduce((total, count) => total + count, 0);
  }

  /** Updates the counts of rows before `untilMs`. Later rows may not all be written yet. */
  async update(untilMs: number): Promise<void> {
    const before = firstIdAt(untilMs);
    const now = performance.now();
    if (now >= this.#countAllAt) {
      await this.#countAll(before);
      this.#countAllAt = now + COUNT_ALL_MS;
    } else {
      await this.#countSince(before);
    }
  }

  forget(): void {
    this.#countAllAt = Number.NEGATIVE_INFINITY;
  }

  subtract(customers: readonly string[]): void {
    for (const customer of customers) {
      const remaining = (this.#counts.get(customer) ?? 0) - 1;
      if (remaining > 0) this.#counts.set(customer, remaining);
      else this.#counts.delete(customer);
    }
  }

  #add(customer: string, rows: number): void {
    this.#counts.set(customer, (this.#counts.get(customer) ?? 0) + rows);
  }

  async #countAll(before: string): Promise<void> {
    const { db } = this.#store;
    this.forget();
    this.#counts.clear();
    let last = { customer_id: '', id: '' };
    for (;;) {
      const { customer_id, id } = last;
      const groups = await db
        .selectFrom((from) =>
          from
            .selectFrom(this.table)
            .select(['customer_id', 'id'])
            .where(({ eb, refTuple, tuple }) =>
              eb(refTuple('customer_id', 'id'), '>', tuple(customer_id, id)),
            )
            .orderBy('customer_id')
            .orderBy('id')
            .limit(COUNT_BATCH_ROWS)
            .as('step'),
        )
        .select(({ fn }) => ['customer_id', fn.max('id').as('id'), fn.countAll<number>().as('seen')])
        .select(({ fn, case: when }) =>
          fn.sum<number>(when().when('id', '<', before).then(1).else(0).end()).as('counted'),
        )
        .groupBy('customer_id')
        .orderBy('customer_id')
        .execute();
      let seen = 0;
      for (const group of groups) {
        seen += Number(group.seen);
        if (Number(group.counted) > 0) this.#add(group.customer_id, Number(group.counted));
        last = group;
      }
      if (seen < COUNT_BATCH_ROWS) break;
    }
    this.#before = before;
  }

  async #countSince(before: string): Promise<void> {
    for (;;) {
      const rows = await this.#store.db
        .selectFrom(this.table)
        .select(['customer_id', 'id'])
        .where('id', '>=', this.#before)
        .where('id', '<', before)
        .orderBy('id')
        .limit(COUNT_BATCH_ROWS)
        .execute();
      for (const { customer_id } of rows) this.#add(customer_id, 1);
      if (rows.length < COUNT_BATCH_ROWS) break;
      // Smallest text that sorts after the last id.
      this.#before = `${rows.at(-1)!.id}0`;
    }
    if (before > this.#before) this.#before = before;
  }
}

export const retentionLimits = {
  retentionHours: 72,
  customerRowsMax: 50_000,
  rowsMax: 500_000,
};

type RetentionLimits = Readonly<typeof retentionLimits>;

const HOUR_MS = 3_600_000;
/** Rows per statement: few enough that other statements wait for only a few milliseconds. */
const DELETE_BATCH_ROWS = 100;
const DELETE_BATCH_TERMS = 500;
/** Minimum age of counted rows. Other gateways may still be writing more recent rows. */
const SETTLE_MS = 30_000;
const LEASE = 'log-retention';
/** Lease duration: how long a crashed gateway keeps the others from pruning. */
const LEASE_MS = 180_000;

type Range = Readonly<{ customer?: string; before?: string; rows?: number }>;

/** Deletes expired and excess rows of logs and submissions, oldest first. Only one gateway prunes at a time. */
export class LogRetention {
  readonly #holder = randomUUID();
  readonly #store: Store;
  readonly #limits: RetentionLimits;
  readonly #log: Pick<LogStore, 'deleteCustomers'> | undefined;
  readonly #counts: readonly RowCounts[];

  /** @param log - stores the request log elsewhere; absent: in `store`. */
  constructor(store: Store, limits: RetentionLimits, log?: Pick<LogStore, 'deleteCustomers'>) {
    this.#store = store;
    this.#limits = limits;
    this.#log = log;
    this.#counts = retainedTables.map((table) => new RowCounts(store, table));
  }

  /** Prunes unless another gateway holds the lease. */
  async prune(nowMs: number): Promise<void> {
    const isMine = await acquireLease(this.#store, LEASE, this.#holder, nowMs, LEASE_MS);
    const deleted = isMine ? await this.#deletedCustomers(nowMs) : [];
    if (isMine) await this.#pruneUnknownMethods(nowMs);
    for (const counts of this.#counts) {
      // The gateway with the lease deletes rows, so these counts become wrong.
      if (!isMine) counts.forget();
      else await this.#pruneTable(counts, nowMs, deleted);
    }
    if (deleted.length > 0) await this.#log?.deleteCustomers?.(deleted);
  }

  async stop(): Promise<void> {
    await releaseLease(this.#store, LEASE, this.#holder).catch(() => undefined);
  }

  /**
   * Customers whose entries may not have expired. They are deleted at each run, because gateways may write entries of a
   * customer after its deletion.
   */
  async #deletedCustomers(nowMs: number): Promise<string[]> {
    const { db } = this.#store;
    const rows = await db
      .selectFrom('audit')
      .select('customer_id')
      .where('action', '=', 'customer.delete')
      .where('at', '>=', nowMs - this.#limits.retentionHours * HOUR_MS)
      .execute();
    return rows.flatMap(({ customer_id: id }) => id ?? []);
  }

  async #pruneUnknownMethods(nowMs: number): Promise<void> {
    const first = Math.floor(nowMs / HOUR_MS) - this.#limits.retentionHours;
    await this.#store.db.deleteFrom('unknown_method').where('hour', '<', first).execute();
  }

  async #deleteTerms(rows: readonly LogRow[]): Promise<void> {
    for (const terms of chunk(rows.flatMap(termRows), DELETE_BATCH_TERMS)) {
      const values = terms.map(({ customer_id, term, id }) => sql`(${customer_id}, ${term}, ${id})`);
      await this.#store.db
        .deleteFrom('request_term')
        .where(sql<boolean>`(customer_id, term, id) in (values ${sql.join(values)})`)
        .execute();
    }
  }

  async #pruneTable(counts: RowCounts, nowMs: number, deleted: readonly string[]): Promise<void> {
    const { retentionHours, customerRowsMax, rowsMax } = this.#limits;
    await counts.update(nowMs - SETTLE_MS);
    await this.#delete(counts, { before: firstIdAt(nowMs - retentionHours * HOUR_MS) });
    for (const customer of deleted)
      if (counts.byCustomer.has(customer)) await this.#delete(counts, { customer });
    for (const [customer, rows] of [...counts.byCustomer]) {
      if (rows > customerRowsMax) await this.#delete(counts, { customer, rows: rows - customerRowsMax });
    }
    const over = counts.total - rowsMax;
    if (over > 0) await this.#delete(counts, { rows: over });
  }

  async #delete(counts: RowCounts, range: Range): Promise<void> {
    const { customer, before, rows = Number.POSITIVE_INFINITY } = range;
    const { table } = counts;
    const { db } = this.#store;
    for (let deleted = 0; deleted < rows; ) {
      const step = Math.min(DELETE_BATCH_ROWS, rows - deleted);
      let some = db.selectFrom(table).selectAll().orderBy('id').limit(step);
      if (customer !== undefined) some = some.where('customer_id', '=', customer);
      if (before !== undefined) some = some.where('id', '<', before);
      const found = await some.execute();
      if (found.length === 0) return;
      const ids = found.map(({ id }) => id);
      // Before the entries, because the terms are known only from them.
      if (table === 'request_log') await this.#deleteTerms(found as LogRow[]);
      await db.deleteFrom(table).where('id', 'in', ids).execute();
      counts.subtract(found.map((row) => row.customer_id));
      deleted += found.length;
      if (found.length < step) return;
    }
  }
}
