import { type Kysely, type RawBuilder, sql } from 'kysely';
import { upsertRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { UsageTables } from '../database/tables/usage.ts';
import { stepMs } from './read-usage.ts';
import { counterColumns } from './usage-sums.ts';

const recordedColumns = ['requests', 'messages', 'credits'] as const;

/** Records the totals that each process run has for the given hour. Recorded values never decrease. */
async function recordHighWater(db: Kysely<Schema>, hour: number): Promise<void> {
  const greater = (name: string) =>
    sql<never>`case when excluded.${sql.ref(name)} > usage_seen.${sql.ref(name)}
      then excluded.${sql.ref(name)} else usage_seen.${sql.ref(name)} end`;
  const seen = await db
    .selectFrom('usage_minute')
    .select([
      'epoch',
      ...recordedColumns.map((name) => sql<number>`cast(sum(${sql.ref(name)}) as bigint)`.as(name)),
    ])
    .where('minute', '>=', hour * 60)
    .where('minute', '<', hour * 60 + 60)
    .groupBy('epoch')
    .execute();
  if (seen.length === 0) return;
  await db
    .insertInto('usage_seen')
    .values(seen.map((row) => ({ hour, ...row })))
    .onConflict((conflict) =>
      conflict
        .columns(['hour', 'epoch'])
        .doUpdateSet(Object.fromEntries(recordedColumns.map((name) => [name, greater(name)]))),
    )
    .execute();
}

export type CheckResult = Readonly<Omit<UsageTables['usage_check'], 'ran_at'>>;

/** A query, run once per time slice, that must return no rows. */
type Check = Readonly<{
  name: string;
  /** Checks days instead of hours. */
  isDaily?: true;
  /** @param slice - number of hours or days since 1970. */
  violations(slice: number): RawBuilder<{ example: string }>;
}>;

const HOURS_CHECKED = 24;
const DAYS_CHECKED = 3;

const daysOf = (hours: readonly number[]) => new Set(hours.map((hour) => Math.floor(hour / 24)));

async function hoursWithUsage(db: Kysely<Schema>, hour: number): Promise<number[]> {
  const hours = sql.join(
    Array.from({ length: DAYS_CHECKED * 24 }, (_, ago) => sql`select ${sql.lit(hour - 1 - ago)} as hour`),
    sql` union all `,
  );
  const { rows } = await sql<{ hour: number }>`select hour from (${hours}) as a where
    exists (select 1 from usage_minute where minute >= a.hour * 60 and minute < a.hour * 60 + 60)
    or exists (select 1 from usage_hour b where b.hour = a.hour)
    or exists (select 1 from usage_seen b where b.hour = a.hour) order by hour desc`.execute(db);
  return rows.map((row) => row.hour);
}

const sums = sql.raw(counterColumns.map((name) => `coalesce(sum(${name}), 0) as ${name}`).join(', '));
const hasDifference = sql.raw(counterColumns.map((name) => `a.${name} <> b.${name}`).join(' or '));
const describeRow = (unit: string, slice: number): RawBuilder<string> =>
  sql`${sql.lit(`${unit} ${slice}: `)} || a.requests || ' requests and ' || a.credits || ' credits, not ' ||
    b.requests || ' and ' || b.credits`;

/** True if no mark exists, so the finer rows have not changed since they were summed. */
const unmarked = (kind: string, from: number, to: number): RawBuilder<boolean> => sql`not exists (
  select 1 from usage_mark where kind = ${sql.lit(kind)} and bucket >= ${from} and bucket < ${to})`;

const within = (column: string, from: number, to: number): RawBuilder<boolean> =>
  sql`${sql.ref(column)} >= ${from} and ${sql.ref(column)} < ${to}`;

/** True if no row of the step at or after `from` has been deleted. Deleted rows cannot be summed again. */
const isRetained = (step: string, from: number): RawBuilder<boolean> => sql`not exists (
  select 1 from usage_horizon where step = ${sql.lit(step)} and bucket > ${from})`;

const checks: readonly Check[] = [
  {
    name: 'Minute totals match hourly totals',
    violations: (hour) => sql`select ${describeRow('hour', hour)} as example
      from (select ${sums} from usage_hour where hour = ${hour}) a,
        (select ${sums} from usage_minute where ${within('minute', hour * 60, hour * 60 + 60)}) b
      where (${hasDifference}) and ${unmarked('hour', hour, hour + 1)} and ${isRetained('minute', hour * 60)}`,
  },
  {
    name: 'Hourly totals match daily totals',
    isDaily: true,
    violations: (day) => sql`select ${describeRow('day', day)} as example
      from (select ${sums} from usage_day where day = ${day}) a,
        (select ${sums} from usage_hour where ${within('hour', day * 24, day * 24 + 24)}) b
      where (${hasDifference}) and ${unmarked('hour', day * 24, day * 24 + 24)} and ${unmarked('day', day, day + 1)}
        and ${isRetained('hour', day * 24)}`,
  },
  {
    name: 'Hourly totals match usage by key',
    violations: (hour) => sql`select ${describeRow('hour', hour)} as example
      from (select ${sums} from usage_total where step = 'hour' and bucket = ${hour}) a,
        (select ${sums} from usage_hour where hour = ${hour}) b
      where (${hasDifference}) and ${unmarked('minute', hour * 60, hour * 60 + 60)}
        and ${unmarked('total_hour', hour, hour + 1)} and ${unmarked('hour', hour, hour + 1)}`,
  },
  {
    name: 'Totals by method match totals by customer',
    violations: (hour) => sql`select ${describeRow('hour', hour)} as example
      from (select ${sums} from usage_method where step = 'hour' and bucket = ${hour}) a,
        (select ${sums} from usage_total where step = 'hour' and bucket = ${hour}) b
      where ${hasDifference}`,
  },
  {
    name: 'Gateway counters never decrease',
    violations: (hour) => sql`select 'hour ' || a.hour || ' of run ' || a.epoch || ': ' ||
        coalesce(b.requests, 0) || ' requests, once ' || a.requests as example
      from usage_seen a left join (select epoch, ${sums} from usage_minute
        where ${within('minute', hour * 60, hour * 60 + 60)} group by epoch) b on a.epoch = b.epoch
      where a.hour = ${hour} and ${isRetained('minute', hour * 60)} and (coalesce(b.requests, 0) < a.requests
        or coalesce(b.messages, 0) < a.messages or coalesce(b.credits, 0) < a.credits)`,
  },
  {
    name: 'Usage belongs to existing keys',
    violations: (hour) => sql`select distinct key_id as example from usage_hour
      where customer_id = '' and hour = ${hour}`,
  },
  {
    name: 'Credits are charged only for served requests',
    violations: (hour) => sql`select key_id || ' ' || method || ' ' || status || ': ' || credits as example
      from usage_hour where hour = ${hour} and credits > 0
        and (status = 'limited' or requests + messages = 0)`,
  },
];

async function runCheck(
  db: Kysely<Schema>,
  check: Check,
  hours: readonly number[],
  shouldContinue: () => Promise<boolean>,
): Promise<CheckResult | null> {
  let violations = 0;
  let example: string | null = null;
  for (const slice of check.isDaily ? daysOf(hours) : hours.slice(0, HOURS_CHECKED)) {
    if (!(await shouldContinue())) return null;
    const { rows } = await check.violations(slice).execute(db);
    violations += rows.length;
    example ??= rows[0]?.example ?? null;
  }
  return { name: check.name, violations, example };
}

/** Checks the most recent hours and days with usage and stores the results. */
export async function runChecks(
  { db }: Store,
  nowMs: number,
  shouldContinue: () => Promise<boolean>,
): Promise<CheckResult[]> {
  const hours = await hoursWithUsage(db, Math.floor(nowMs / stepMs.hour));
  const results: CheckResult[] = [];
  for (const check of checks) {
    const result = await runCheck(db, check, hours, shouldContinue);
    if (result === null) return results;
    const { name, ...found } = result;
    await upsertRow(db, 'usage_check', { name }, { ran_at: nowMs, ...found });
    results.push(result);
  }
  for (const hour of hours.slice(0, HOURS_CHECKED)) await recordHighWater(db, hour);
  // Removes results of checks that this version does not have.
  const names = checks.map(({ name }) => name);
  await db.deleteFrom('usage_check').where('name', 'not in', names).execute();
  return results;
}
