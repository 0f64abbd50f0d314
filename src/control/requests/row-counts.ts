import { setImmediate } from 'node:timers/promises';
import type { Store } from '../database/open.ts';
import { firstIdAt } from './entry-id.ts';

/** Tables whose rows are kept for a while, of each customer so many. */
export const retainedTables = ['request_log', 'submission'] as const;
export type RetainedTable = (typeof retainedTables)[number];

/** Rows that are counted in one statement, small enough that an embedded store blocks for a few milliseconds. */
const STEP_ROWS = 2_000;
/** Rows that others took out or wrote late make counts wrong: after so long all are counted anew. */
const COUNT_ALL_MS = 3_600_000;

/**
 * How many rows each customer has in a table. All are counted once an hour, in small steps; in between only those that
 * came since.
 */
export class RowCounts {
  readonly #store: Store;
  readonly #table: RetainedTable;
  readonly #counts = new Map<string, number>();
  /** Whatever stands before this was counted. */
  #before = '';
  #countAllAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store, table: RetainedTable) {
    this.#store = store;
    this.#table = table;
  }

  /** Rows by customer. */
  get byCustomer(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Rows in all. */
  get total(): number {
    let total = 0;
    for (const count of this.#counts.values()) total += count;
    return total;
  }

  /** @param untilMs - counts what began before, Unix milliseconds: later ones may not all be written yet. */
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

  /** Counts all anew at the next update. */
  forget(): void {
    this.#countAllAt = Number.NEGATIVE_INFINITY;
  }

  /** Rows of customers were taken out. */
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

  /** Walks along the index of customers and ids. */
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
            .selectFrom(this.#table)
            .select(['customer_id', 'id'])
            .where(({ eb, refTuple, tuple }) =>
              eb(refTuple('customer_id', 'id'), '>', tuple(customer_id, id)),
            )
            .orderBy('customer_id')
            .orderBy('id')
            .limit(STEP_ROWS)
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
      if (seen < STEP_ROWS) break;
      await setImmediate();
    }
    this.#before = before;
  }

  /** Walks along the ids. */
  async #countSince(before: string): Promise<void> {
    for (;;) {
      const rows = await this.#store.db
        .selectFrom(this.#table)
        .select(['customer_id', 'id'])
        .where('id', '>=', this.#before)
        .where('id', '<', before)
        .orderBy('id')
        .limit(STEP_ROWS)
        .execute();
      for (const { customer_id } of rows) this.#add(customer_id, 1);
      if (rows.length < STEP_ROWS) break;
      // The first text behind the last id.
      this.#before = `${rows.at(-1)!.id}0`;
      await setImmediate();
    }
    if (before > this.#before) this.#before = before;
  }
}
