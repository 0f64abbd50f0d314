import type { Insertable } from 'kysely';
import type { ClickHouse } from '../../src/control/clickhouse/client.ts';
import {
  type UsageDetailTable,
  type UsageStep,
  usageSteps,
} from '../../src/control/database/tables/usage.ts';
import {
  tableOf as clickHouseTableOf,
  createUsageTables,
  levels,
} from '../../src/control/usage/clickhouse/usage-tables.ts';
import { counterColumns, parseHistogram } from '../../src/control/usage/usage-sums.ts';
import type { Bulk } from './bulk.ts';
import { DAYS, loggedMethods } from './log-rows.ts';
import type { Population, Sizes } from './population.ts';
import { oneOf, type Random, randomFrom, skewed } from './random.ts';

const MINUTES = 1_440;
const minutesOf = { minute: 1, hour: 60, day: 1_440 } as const;

type Filling = Readonly<{ bulk: Bulk; population: Population; sizes: Sizes; now: number }>;

const codes = ['RATE_LIMITED', 'UPSTREAM_TIMEOUT', '-32602', '-32002'] as const;
const statusOfCode = {
  RATE_LIMITED: 'limited',
  UPSTREAM_TIMEOUT: 'upstream',
  '-32602': 'rpcError',
  '-32002': 'rpcError',
} as const;

function outcomeOf(random: Random): Pick<UsageDetailTable, 'status' | 'code'> {
  if (random() < 0.8) return { status: 'ok', code: '' };
  const code = oneOf(random, codes);
  return { status: statusOfCode[code], code };
}

type Detail = Omit<Insertable<UsageDetailTable>, 'last_minute'>;

/** Rows of a bucket without repetitions. */
function detailRows({ customerIds, keyIds }: Population, random: Random, count: number): Detail[] {
  const rows = new Map<string, Detail>();
  for (let nth = 0; nth < count; nth++) {
    const customer = random() < 0.2 ? 0 : skewed(random, customerIds.length);
    const keys = keyIds[customer]!;
    if (keys.length === 0) continue;
    const key_id = keys[skewed(random, keys.length)]!;
    const method = loggedMethods[skewed(random, loggedMethods.length)]!;
    const outcome = outcomeOf(random);
    const network = 'mainnet-beta' as const;
    const product = 'rpc' as const;
    rows.set(`${key_id} ${method} ${outcome.status} ${outcome.code}`, {
      ...{ customer_id: customerIds[customer]!, key_id, product, method, network },
      ...outcome,
      ...{ requests: 30, bytes_in: 3_000, bytes_out: 90_000, credits: 40, messages: 0 },
      latency: '14:6,18:15,22:6,30:3',
    });
  }
  return [...rows.values()];
}

const latency = `'14:600,18:1500,22:600,30:300'`;
const sums = 'sum(requests), sum(bytes_in), sum(bytes_out), sum(credits), sum(messages)';
const counters = 'requests, bytes_in, bytes_out, credits, messages, latency';

/** The totals that roll-ups would have created. */
async function addTotals(bulk: Bulk, step: 'minute' | 'hour' | 'day'): Promise<void> {
  const source = `from usage_${step}`;
  const planOf = `(select plan_id from customer where customer.id = usage_${step}.customer_id)`;
  await bulk.run(`insert into usage_total (step, bucket, customer_id, plan_id, product, status, ${counters})
    select '${step}', ${step}, customer_id, ${planOf}, product, status, ${sums}, ${latency}
    ${source} group by ${step}, customer_id, product, status`);
  await bulk.run(`insert into usage_method
      (step, bucket, customer_id, method, product, status, network, code, ${counters})
    select '${step}', ${step}, customer_id, method, product, status, network, code, ${sums}, ${latency}
    ${source} group by ${step}, customer_id, method, product, status, network, code`);
  await bulk.run(`insert into usage_fleet (step, bucket, epoch, product, method, status, network, code, ${counters})
    select '${step}', ${step}, 'run', product, method, status, network, code, ${sums}, ${latency}
    ${source} group by ${step}, product, method, status, network, code`);
}

/** Rows of a month by key: by day, by hour and, of the last day, by minute. */
export function* usageRows(
  population: Population,
  { keys }: Sizes,
  now: number,
): Generator<Readonly<{ step: UsageStep; bucket: number; rows: Detail[] }>> {
  const random = randomFrom(10);
  const minute = Math.floor(now / 60_000);
  const hour = Math.floor(minute / 60);
  const day = Math.floor(hour / 24);
  for (const [step, from, to, count] of [
    ['minute', minute - MINUTES, minute, keys / 500],
    ['hour', hour - DAYS * 24, hour, keys / 70],
    ['day', day - DAYS, day, keys / 5],
  ] as const)
    for (let bucket = from; bucket <= to; bucket++)
      yield { step, bucket, rows: detailRows(population, random, count) };
}

/** Adds the rows of keys, and their totals. @param clickHouse - whether ClickHouse has the details. */
export async function fillUsage(
  { bulk, population, sizes, now }: Filling,
  clickHouse: boolean,
): Promise<void> {
  const tables = ['usage_minute', 'usage_hour', 'usage_day', 'usage_total', 'usage_method', 'usage_fleet'];
  const createIndexes = await bulk.dropIndexes(tables);
  for (const { step, bucket, rows } of usageRows(population, sizes, now)) {
    const own =
      step === 'minute'
        ? { minute: bucket, epoch: 'run', plan_id: 'default' }
        : { [step]: bucket, last_minute: bucket * minutesOf[step] };
    await bulk.insert(
      `usage_${step}`,
      rows.map((row) => ({ ...row, ...own })),
    );
  }
  for (const step of usageSteps) await addTotals(bulk, step);
  await createIndexes();
  const detailed = clickHouse ? 0 : 1;
  await bulk.insert('usage_epoch', [{ epoch: 'run', written_at: now, gateway: 'gateway-0', detailed }]);
  // The newest buckets are not rolled up yet, as in a running service.
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000].map((ms) => Math.floor(now / ms));
  await bulk.insert('usage_mark', [
    { kind: 'minute', bucket: minute, epoch: 'run', token: 1 },
    { kind: 'minute', bucket: minute! - 1, epoch: 'run', token: 1 },
    { kind: 'total_hour', bucket: hour, epoch: '', token: 1 },
    { kind: 'total_day', bucket: day, epoch: '', token: 1 },
    { kind: 'clickhouse_hour', bucket: hour, epoch: 'run', token: 1 },
    { kind: 'clickhouse_day', bucket: day, epoch: '', token: 1 },
  ]);
}

const clickHouseSums = (['requests', 'credits', 'bytes_in', 'bytes_out', 'messages'] as const)
  .map((name) => `sum(${name})`)
  .join(', ');

/** The levels of hours and days that roll-ups would have created. */
const addLevel = (step: UsageStep, level: 'fleet' | 'customer'): string => `
  insert into ${clickHouseTableOf(step)} (level, bucket, last_minute, product, method, status, network, code,
      ${level === 'fleet' ? 'epoch' : 'customer_id'}, ${counterColumns.join(', ')}, latency_buckets, latency_counts)
    select ${levels[level]}, bucket, max(last_minute), product, method, status, network, code,
      ${level === 'fleet' ? "'run'" : 'customer_id as customer'}, ${clickHouseSums},
      tupleElement(sumMap(latency_buckets, latency_counts) as latency, 1), tupleElement(latency, 2)
    from ${clickHouseTableOf(step)} where level = ${levels.detail}
    group by bucket, product, method, status, network, code${level === 'fleet' ? '' : ', customer'}`;

const CLICKHOUSE_BATCH_ROWS = 20_000;

/** Adds the same rows to ClickHouse. */
export async function fillClickHouseUsage(
  server: ClickHouse,
  population: Population,
  sizes: Sizes,
  now: number,
): Promise<void> {
  for (const statement of createUsageTables) await server.run(statement);
  const waiting: Record<UsageStep, object[]> = { minute: [], hour: [], day: [] };
  const insert = async (step: UsageStep): Promise<void> => {
    if (waiting[step].length > 0) await server.insert(clickHouseTableOf(step), waiting[step]);
    waiting[step] = [];
  };
  for (const { step, bucket, rows } of usageRows(population, sizes, now)) {
    for (const { latency, ...row } of rows) {
      const { buckets, counts } = parseHistogram(latency);
      const own = step === 'minute' ? { epoch: 'run' } : { level: levels.detail };
      waiting[step].push({
        ...{ ...row, ...own, bucket, last_minute: bucket * minutesOf[step] },
        ...{ latency_buckets: buckets, latency_counts: counts },
      });
    }
    if (waiting[step].length >= CLICKHOUSE_BATCH_ROWS) await insert(step);
  }
  for (const step of usageSteps) {
    await insert(step);
    if (step !== 'minute')
      for (const level of ['fleet', 'customer'] as const) await server.run(addLevel(step, level));
    // As roll-ups of complete days do.
    if (step !== 'minute') await server.run(`optimize table ${clickHouseTableOf(step)} final`);
  }
}
