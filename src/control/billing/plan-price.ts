import type { Kysely, Transaction } from 'kysely';
import { fieldsOf, selectRows, upsertRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { PlanPriceTable } from '../database/tables/billing.ts';
import type { PlanPrice } from './plan-fields.ts';

const priceOf = (row: PlanPriceTable): PlanPrice | null =>
  row.currency === ''
    ? null
    : fieldsOf(row, 'currency', 'monthly_price', 'included_credits', 'price_per_million');

/** Prices of all plans at a time, by plan id; null: no price. */
export async function readPrices(
  db: Kysely<Schema>,
  atMs: number,
): Promise<ReadonlyMap<string, PlanPrice | null>> {
  const rows = await selectRows(db, 'plan_price', {}).where('since', '<=', atMs).orderBy('since').execute();
  return new Map(rows.map((row) => [row.plan_id, priceOf(row)]));
}

export async function readPrice(db: Kysely<Schema>, planId: string): Promise<PlanPrice | null> {
  const row = await selectRows(db, 'plan_price', { plan_id: planId })
    .orderBy('since', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : priceOf(row);
}

export const isSamePrice = (one: PlanPrice | null, other: PlanPrice | null): boolean =>
  one?.currency === other?.currency &&
  one?.monthlyPrice === other?.monthlyPrice &&
  one?.includedCredits === other?.includedCredits &&
  one?.pricePerMillion === other?.pricePerMillion;

export async function writePrice(
  trx: Transaction<Schema>,
  planId: string,
  price: PlanPrice | null,
  nowMs: number,
): Promise<void> {
  if (isSamePrice(await readPrice(trx, planId), price)) return;
  await upsertRow(
    trx,
    'plan_price',
    { plan_id: planId, since: nowMs },
    {
      currency: price?.currency ?? '',
      monthly_price: price?.monthlyPrice ?? 0,
      included_credits: price?.includedCredits ?? 0,
      price_per_million: price?.pricePerMillion ?? 0,
    },
  );
}
