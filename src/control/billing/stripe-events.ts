import { type Kysely, sql } from 'kysely';
import { deleteRows, selectRows, updateRows, upsertRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { StripeCustomerTable, StripeEventTable } from '../database/tables/billing.ts';
import { transact } from '../database/transaction.ts';
import { segmentsOf, stepMs, totalRowsOf } from '../usage/read-usage.ts';
import { retentionStarts } from '../usage/usage-rows.ts';

/** Stripe accepts no events of earlier hours. */
const LATE_HOURS_MAX = 35 * 24;

/** The first hour of which usage may still arrive and be sent. */
export async function firstOpenHour({ db }: Store, endHour: number): Promise<number> {
  const { minute } = await retentionStarts(db);
  return Math.max(Math.floor(minute / 60), endHour - LATE_HOURS_MAX);
}

type HourSum = Readonly<{ hour: number; credits: number }>;

/** Credits of a customer by hour, for the hours [from, to). */
async function creditsByHour({ db }: Store, customerId: string, from: number, to: number) {
  const hours = new Map<number, number>();
  for (const segment of await segmentsOf(db, 'total', { step: 'hour', from, to })) {
    const bucket = sql.ref<number>(segment.isRaw ? 'minute' : 'bucket');
    const perHour = sql.lit(stepMs.hour / stepMs[segment.step]);
    const { rows } = await sql<HourSum>`select ${bucket} / ${perHour} as hour,
      cast(sum(credits) as bigint) as credits
      from ${totalRowsOf(segment)} and customer_id = ${customerId} group by 1`.execute(db);
    for (const { hour, credits } of rows) hours.set(hour, (hours.get(hour) ?? 0) + credits);
  }
  return hours;
}

type Queued = Readonly<{ hour: number; credits: number; count: number }>;

async function queuedByHour(
  db: Kysely<Schema>,
  customerId: string,
  from: number,
): Promise<Map<number, Queued>> {
  const { rows } = await sql<Queued>`select hour, cast(sum(credits) as bigint) as credits,
    cast(count(*) as bigint) as count from stripe_event
    where customer_id = ${customerId} and hour >= ${from} group by hour`.execute(db);
  return new Map(rows.map((row) => [row.hour, row]));
}

/**
 * Queues an event for each complete hour whose credits exceed those of its earlier events. Identifiers follow from
 * customer, hour and number, so that gateways that do this at the same time queue an event only once.
 */
export async function queueEvents(
  store: Store,
  { customer_id, stripe_id, since, next_hour }: StripeCustomerTable,
  endHour: number,
  nowMs: number,
): Promise<void> {
  const from = Math.max(
    Math.ceil(since / stepMs.hour),
    Math.min(next_hour, await firstOpenHour(store, endHour)),
  );
  if (from >= endHour) return;
  const credits = await creditsByHour(store, customer_id, from, endHour);
  await transact(store, async (trx) => {
    const queued = await queuedByHour(trx, customer_id, from);
    for (const [hour, sum] of credits) {
      const { credits: before = 0, count = 0 } = queued.get(hour) ?? {};
      if (sum <= before) continue;
      await trx
        .insertInto('stripe_event')
        .values({
          ...{ id: `solway-${customer_id}-${hour}-${count}`, customer_id, stripe_id, hour },
          ...{ number: count, credits: sum - before, state: 'pending', attempts: 0, due_at: nowMs },
          ...{ outcome_unknown_since: null, problem: null, created_at: nowMs },
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    await updateRows(trx, 'stripe_customer', { customer_id }, { next_hour: endHour });
  });
}

/** In a restored backup, an event that another run had sent looks new. It may have been sent since its hour ended. */
export const outcomeUnknownSince = ({ outcome_unknown_since, hour }: StripeEventTable): number =>
  outcome_unknown_since ?? (hour + 1) * stepMs.hour;

/**
 * Claims due events for `leaseMs`, the oldest first, and one of each hour of a customer, so that the outcome of only that
 * one is unknown. Until a result is recorded, each counts as possibly accepted.
 */
export async function claimEvents(
  { db }: Store,
  limit: number,
  leaseMs: number,
  nowMs: number,
): Promise<StripeEventTable[]> {
  const due = await selectRows(db, 'stripe_event', { state: 'pending' })
    .where('due_at', '<=', nowMs)
    .orderBy('hour')
    .orderBy('number')
    .limit(limit)
    .execute();
  const claimed: StripeEventTable[] = [];
  for (const event of due) {
    const { id, attempts, customer_id, hour } = event;
    if (claimed.some((one) => one.customer_id === customer_id && one.hour === hour)) continue;
    const change = {
      ...{ attempts: attempts + 1, due_at: nowMs + leaseMs },
      outcome_unknown_since: outcomeUnknownSince(event),
    };
    if ((await updateRows(db, 'stripe_event', { id, state: 'pending', attempts }, change)) > 0)
      claimed.push(event);
  }
  return claimed;
}

export const recordEvent = (
  { db }: Store,
  { id }: StripeEventTable,
  change: Partial<Pick<StripeEventTable, 'state' | 'due_at' | 'outcome_unknown_since' | 'problem'>>,
): Promise<number> => updateRows(db, 'stripe_event', { id }, change);

/**
 * Credits of an hour that Stripe is known to have; null: another event of the hour is undecided, or was sent since
 * `settledMs`, so that the total of the hour may not contain it yet.
 */
export async function sentCredits(
  { db }: Store,
  { customer_id, stripe_id, hour, number }: StripeEventTable,
  settledMs: number,
): Promise<number | null> {
  const rows = await selectRows(db, 'stripe_event', { customer_id, stripe_id, hour }).execute();
  const isUndecided = rows.some(
    (row) =>
      row.number !== number &&
      ((row.state === 'pending' && row.outcome_unknown_since !== null) ||
        (row.state === 'sent' && row.due_at > settledMs)),
  );
  if (isUndecided) return null;
  return rows.reduce((sum, row) => (row.state === 'sent' ? sum + row.credits : sum), 0);
}

/**
 * Maps a customer to a Stripe customer. The first mapping applies from the current hour on. @param stripeId - null: none.
 */
export async function mapCustomer(
  db: Kysely<Schema>,
  customerId: string,
  stripeId: string | null,
  nowMs: number,
): Promise<void> {
  const key = { customer_id: customerId };
  if (stripeId === null) {
    await deleteRows(db, 'stripe_customer', key);
    return;
  }
  const next_hour = Math.floor(nowMs / stepMs.hour);
  const initial = { since: next_hour * stepMs.hour, next_hour };
  await upsertRow(db, 'stripe_customer', key, { stripe_id: stripeId }, initial);
}

/** Unmaps customers that were deleted before `hour`, whose usage was all queued. */
export async function unmapDeleted({ db }: Store, hour: number): Promise<void> {
  const deleted = db
    .selectFrom('audit')
    .select('customer_id')
    .where('action', '=', 'customer.delete')
    .where('at', '<', hour * stepMs.hour);
  await db
    .deleteFrom('stripe_customer')
    .where('next_hour', '>=', hour)
    .where('customer_id', 'in', deleted)
    .execute();
}

/** Deletes sent and failed events of hours that cannot change any more. */
export async function pruneEvents({ db }: Store, beforeHour: number): Promise<void> {
  await db
    .deleteFrom('stripe_event')
    .where('state', '<>', 'pending')
    .where('hour', '<', beforeHour)
    .execute();
}
