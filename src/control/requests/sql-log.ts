import { sql } from 'kysely';
import { chunk } from '../../base/chunk.ts';
import { selectRows } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import { transact } from '../database/transaction.ts';
import { createSearch, entriesOf, searchSteps } from './log-search.ts';
import type {
  FailureExample,
  FailureFilter,
  ListedRow,
  LogCounts,
  LogFilter,
  LogPage,
  LogRow,
  LogStore,
  NewLogRow,
} from './log-store.ts';
import { termRows } from './log-terms.ts';

const BATCH_TERMS = 200;

/** The request log in the database of keys and usage. */
export class SqlLog implements LogStore {
  readonly #store: Store;
  /** Kept low, because other statements wait while one runs. */
  readonly batchRows = 25;

  constructor(store: Store) {
    this.#store = store;
  }

  write(rows: readonly NewLogRow[]): Promise<void> {
    // A term without its entry would never be pruned.
    return transact(this.#store, async (trx) => {
      for (const terms of chunk(rows.flatMap(termRows), BATCH_TERMS))
        await trx
          .insertInto('request_term')
          .values(terms)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      await trx
        .insertInto('request_log')
        .values(rows)
        // The row already exists if the response to an earlier write was lost.
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    });
  }

  async list(customerId: string, filter: LogFilter, limit: number, before: string | null): Promise<LogPage> {
    const search = await createSearch(this.#store, customerId, filter, before);
    const rows: ListedRow[] = [];
    const end = await searchSteps(search, async (part) => {
      const found = await entriesOf(part)
        .selectAll('request_log')
        .orderBy('found.id', 'desc')
        .limit(limit - rows.length)
        .execute();
      rows.push(...found);
      return rows.length === limit;
    });
    return { rows, end };
  }

  find(customerId: string, id: string): Promise<LogRow | undefined> {
    return selectRows(this.#store.db, 'request_log', { id, customer_id: customerId }).executeTakeFirst();
  }

  async count(customerId: string, filter: LogFilter, stepMs: number): Promise<LogCounts> {
    const search = await createSearch(this.#store, customerId, filter, null);
    const step = sql<number>`(request_log.at - ${sql.lit(filter.from)}) / ${sql.lit(stepMs)}`;
    const steps: LogCounts['steps'][number][] = [];
    const end = await searchSteps(search, async (part) => {
      const found = await entriesOf(part)
        .select((select) => [
          step.as('step'),
          select.fn.countAll<number>().as('requests'),
          sql<number>`sum(case when status = 'ok' then 0 else 1 end)`.as('failed'),
        ])
        .groupBy(sql`1`)
        .execute();
      for (const row of found)
        steps.push({
          step: Number(row.step),
          requests: Number(row.requests),
          failed: Number(row.failed),
        });
      return false;
    });
    return { steps, end };
  }

  async findExamples(
    customerId: string,
    filter: FailureFilter,
    codes: readonly string[],
  ): Promise<Map<string, FailureExample>> {
    const examples = new Map<string, FailureExample>();
    for (const code of codes) {
      // Short queries, because codes are terms, which are indexed.
      const found = await entriesOf(await createSearch(this.#store, customerId, { ...filter, code }, null))
        .select(['request_log.id', 'request_log.message'])
        .orderBy('found.id', 'desc')
        .limit(1)
        .executeTakeFirst();
      if (found !== undefined) examples.set(code, found);
    }
    return examples;
  }
}
