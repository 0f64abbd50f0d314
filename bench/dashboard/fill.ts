import { sql } from 'kysely';
import type { Store } from '../../src/control/database/store.ts';

const MINUTE_MS = 60_000;

/** Usage rows: mostly minutes of the last week, the others hours and days of earlier months. */
export const ROWS = 10_000_000;
const MINUTE_SHARE = 0.8;
const MINUTES = 8 * 1_440;
const KEYS = 500;

/** Table of whole numbers below `count`. */
const upTo = (count: number) => sql`(with recursive n(i) as (select 0 union all select i + 1 from n
  where i < ${sql.lit(count - 1)}) select i from n)`;

async function fillRows({ db }: Store, now: number): Promise<void> {
  await sql`insert into plan (id, name, rpc_per_second, rpc_burst, version)
    values ('default', 'default', 1, 1, 1) on conflict do nothing`.execute(db);
  const perMinute = Math.floor((ROWS * MINUTE_SHARE) / MINUTES);
  const last = Math.floor(now / MINUTE_MS);
  const values = sql`'house', 'rpc', 'm' || (k.i / ${sql.lit(KEYS)}), 'ok', 3, 300, 900, 3, 0, '9:1,12:1,20:1'`;
  const names = sql`customer_id, product, method, status, requests, bytes_in, bytes_out, credits, messages, latency`;
  const key = sql`'K' || (k.i % ${sql.lit(KEYS)})`;
  // One day per statement limits memory.
  for (let from = last - MINUTES + 1; from <= last; from += 1_440) {
    await sql`insert into usage_minute (minute, epoch, plan_id, key_id, ${names})
      select ${sql.lit(from)} + t.i, 'e', 'default', ${key}, ${values} from ${upTo(1_440)} t,
      ${upTo(perMinute)} k`.execute(db);
  }
  const older = ROWS - perMinute * MINUTES;
  const hours = 82 * 24;
  const perHour = Math.floor((older * 0.8) / hours);
  await sql`insert into usage_hour (hour, last_minute, key_id, ${names})
    select t.i + ${sql.lit(Math.floor(last / 60) - 90 * 24)}, 0, ${key}, ${values}
    from ${upTo(hours)} t, ${upTo(perHour)} k`.execute(db);
  const days = 392;
  const perDay = Math.floor((older * 0.2) / days);
  await sql`insert into usage_day (day, last_minute, key_id, ${names})
    select t.i + ${sql.lit(Math.floor(last / 1_440) - 400)}, 0, ${key}, ${values}
    from ${upTo(days)} t, ${upTo(perDay)} k`.execute(db);
}

/** Adds the totals that rollups would have created. */
async function total({ db }: Store): Promise<void> {
  for (const [step, table, bucket] of [
    ['minute', 'usage_minute', 'minute'],
    ['hour', 'usage_minute', 'minute / 60'],
    ['day', 'usage_minute', 'minute / 1440'],
    ['hour', 'usage_hour', 'hour'],
    ['day', 'usage_day', 'day'],
  ] as const) {
    await sql`insert into usage_total (step, bucket, customer_id, plan_id, product, status, requests, bytes_in,
      bytes_out, credits, messages, latency) select ${sql.lit(step)}, ${sql.raw(bucket)}, customer_id, 'default', product,
      status, sum(requests), sum(bytes_in), sum(bytes_out), sum(credits), 0, '9:900,12:900,20:900' from
      ${sql.table(table)} group by ${sql.raw(bucket)}, customer_id, product, status`.execute(db);
  }
}

/** Marks the newest buckets as not rolled up yet, as in a running service. */
async function markLast({ db }: Store, now: number): Promise<void> {
  const minute = Math.floor(now / MINUTE_MS);
  await db
    .insertInto('usage_mark')
    .values([
      { kind: 'minute', bucket: minute, epoch: 'e', token: 1 },
      { kind: 'minute', bucket: minute - 1, epoch: 'e', token: 1 },
      { kind: 'total_hour', bucket: Math.floor(minute / 60), epoch: '', token: 1 },
      { kind: 'total_day', bucket: Math.floor(minute / 1_440), epoch: '', token: 1 },
    ])
    .execute();
}

/** Adds ten million usage rows up to now, with totals. @param now - Unix milliseconds. */
export async function fill(store: Store, now: number): Promise<void> {
  await fillRows(store, now);
  await total(store);
  await markLast(store, now);
}
