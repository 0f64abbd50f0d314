import { type Kysely, sql } from 'kysely';
import { UsageSums } from '../usage/usage-sums.ts';
import { insertRow, pagesOf } from './rows.ts';
import type { Schema } from './schema.ts';
import {
  type UsageCounters,
  type UsageDetailTable,
  type UsageMethodTable,
  type UsageStep,
  usageSteps,
} from './tables/usage.ts';

/** Rows per statement, because each has a histogram. */
const PAGE_ROWS = 1_000;

const keyColumns = ['key_id', 'product', 'method', 'status', 'network', 'code'] as const;

type Row = UsageDetailTable & Readonly<Record<string, string | number>>;

/** Yields the rows of keys by bucket, in the order of the primary key. */
const pagesOfStep = (db: Kysely<Schema>, step: UsageStep) =>
  pagesOf<Row>(PAGE_ROWS, async (last) => {
    const names = [step, ...(step === 'minute' ? ['epoch'] : []), ...keyColumns];
    const order = sql.join(names.map((name) => sql.ref(name)));
    const isAfter = last && sql`where (${order}) > (${sql.join(names.map((name) => last[name]))})`;
    const { rows } = await sql<Row>`select * from ${sql.table(`usage_${step}`)} ${isAfter ?? sql``}
      order by ${order} limit ${PAGE_ROWS}`.execute(db);
    return rows;
  });

type Sums = UsageSums<Omit<UsageMethodTable, keyof UsageCounters>>;

async function insertSums(db: Kysely<Schema>, sums: Sums): Promise<void> {
  const rows = sums.rows().map(({ last_minute: _, ...row }) => row);
  for (let from = 0; from < rows.length; from += PAGE_ROWS)
    await insertRow(db, 'usage_method', rows.slice(from, from + PAGE_ROWS));
}

/** Fills usage_method from the rows of keys, one bucket at a time. In JavaScript, because SQL cannot add histograms. */
export async function sumMethods(db: Kysely<Schema>): Promise<void> {
  for (const step of usageSteps) {
    let [bucket, sums]: [unknown, Sums] = [null, new UsageSums()];
    for await (const rows of pagesOfStep(db, step))
      for (const row of rows) {
        if (row[step] !== bucket) {
          await insertSums(db, sums);
          [bucket, sums] = [row[step], new UsageSums()];
        }
        const { customer_id, product, method, status, network, code } = row;
        const dimensions = { customer_id, product, method, status, network, code };
        sums.add({ step, bucket: Number(bucket), ...dimensions }, row, 0);
      }
    await insertSums(db, sums);
  }
}
