import { type Kysely, sql } from 'kysely';
import { Lru } from '../../base/cache/lru.ts';
import { pagesOf, selectRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import { stepMs } from '../usage/read-usage.ts';
import { amountsOf, type Bill, type BilledCustomer, type Money, readBills, totalsOf } from './bill.ts';
import type { Month } from './month.ts';
import { statementsOf } from './statement.ts';

/** The bill of a customer for a month, without its lines. */
export type BillSummary = Readonly<{
  customerId: string;
  customerName: string;
  planId: string;
  requests: number;
  credits: number;
  totals: Money[];
  /** Whether the month has a statement. */
  isClosed: boolean;
}>;

const sumOf = (bill: Pick<Bill, 'lines'>, field: 'requests' | 'credits'): number =>
  bill.lines.reduce((sum, line) => sum + line[field], 0);

/** Customers, and those that were deleted later but have a bill for the month. */
export function billedCustomers(db: Kysely<Schema>, { from, to }: Month) {
  const own = sql`customer_id = customer.id`;
  const within = (column: string, length: number) =>
    sql`${sql.ref(column)} >= ${from / length} and ${sql.ref(column)} < ${to / length}`;
  return selectRows(db, 'customer', {}).where(
    sql<boolean>`(state <> 'deleted'
      or exists (select 1 from billing_statement where ${own} and month = ${from})
      or exists (select 1 from usage_total where ${own} and step = 'day' and ${within('bucket', stepMs.day)})
      or exists (select 1 from usage_minute where ${own} and ${within('minute', stepMs.minute)})
      or (created_at < ${to} and exists (select 1 from audit where ${own} and action = 'customer.delete' and at >= ${to})))`,
  );
}

/** Summaries of the bills of some customers, in their order. */
export async function summarizeBills(
  store: Store,
  month: Month,
  nowMs: number,
  customers: readonly BilledCustomer[],
): Promise<BillSummary[]> {
  if (customers.length === 0) return [];
  const ids = customers.map(({ id }) => id);
  const statements = await statementsOf(store.db, month, ids);
  const open = ids.filter((id) => !statements.has(id));
  const billFor = open.length === 0 ? null : await readBills(store, month, nowMs, open);
  return customers.flatMap((customer) => {
    const statement = statements.get(customer.id);
    const bill = statement ?? billFor?.(customer);
    if (bill === undefined) return [];
    return [
      {
        ...{ customerId: customer.id, customerName: customer.name, planId: bill.planId },
        ...{ requests: sumOf(bill, 'requests'), credits: sumOf(bill, 'credits') },
        totals: [...(statement?.totals ?? totalsOf(amountsOf(bill)))],
        isClosed: statement !== undefined,
      },
    ];
  });
}

const MONTHS_MAX = 4;
const CUSTOMERS_PAGE = 500;
/** Older summaries are read again in the background. */
const FRESH_MS = 30_000;
/** Older summaries are not returned. */
const USABLE_MS = 300_000;

type Read = Readonly<{ at: number; summaries: readonly BillSummary[] }>;

/** Summaries of all bills of a month, for orders and totals. Cached, because reading those of many customers takes seconds. */
export class MonthBills {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #cache = new Lru<string, Read>(MONTHS_MAX, 0);
  readonly #reading = new Map<string, Promise<readonly BillSummary[]>>();

  /** @param now - Unix milliseconds. */
  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Summaries of all bills; they may be a few minutes old. */
  async readAll(month: Month): Promise<readonly BillSummary[]> {
    const last = this.#cache.get(month.name);
    const age = last === undefined ? Number.POSITIVE_INFINITY : this.#now() - last.at;
    if (last !== undefined && age < FRESH_MS) return last.summaries;
    const reading = this.#reading.get(month.name) ?? this.#start(month);
    if (last === undefined || age >= USABLE_MS) return reading;
    reading.catch(() => undefined);
    return last.summaries;
  }

  #start(month: Month): Promise<readonly BillSummary[]> {
    const reading = this.#readPages(month).finally(() => this.#reading.delete(month.name));
    this.#reading.set(month.name, reading);
    return reading;
  }

  /** Reads page by page, so that other queries can run in between. */
  async #readPages(month: Month): Promise<readonly BillSummary[]> {
    const at = this.#now();
    const summaries: BillSummary[] = [];
    const pages = pagesOf<BilledCustomer>(CUSTOMERS_PAGE, (last) =>
      billedCustomers(this.#store.db, month)
        .where('id', '>', last?.id ?? '')
        .orderBy('id')
        .limit(CUSTOMERS_PAGE)
        .execute(),
    );
    for await (const page of pages) summaries.push(...(await summarizeBills(this.#store, month, at, page)));
    this.#cache.set(month.name, { at, summaries });
    return summaries;
  }
}
