import type { Insertable } from 'kysely';
import type { UsageDetailTable } from '../../src/control/database/tables/usage.ts';
import type { Bulk } from './bulk.ts';
import { DAYS, loggedMethods } from './log-rows.ts';
import type { Population, Sizes } from './population.ts';
import { oneOf, type Random, randomFrom, skewed } from './random.ts';

const MINUTES = 1_440;

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
  await bulk.run(`insert into usage_method (step, bucket, customer_id, method, product, status, ${counters})
    select '${step}', ${step}, customer_id, method, product, status, ${sums}, ${latency}
    ${source} group by ${step}, customer_id, method, product, status`);
  await bulk.run(`insert into usage_fleet (step, bucket, epoch, product, method, status, network, code, ${counters})
    select '${step}', ${step}, 'run', product, method, status, network, code, ${sums}, ${latency}
    ${source} group by ${step}, product, method, status, network, code`);
}

/** Adds a month of usage: by day, by hour and, of the last day, by minute. */
export async function fillUsage({ bulk, population, sizes, now }: Filling): Promise<void> {
  const tables = ['usage_minute', 'usage_hour', 'usage_day', 'usage_total', 'usage_method', 'usage_fleet'];
  const createIndexes = await bulk.dropIndexes(tables);
  const random = randomFrom(10);
  const minute = Math.floor(now / 60_000);
  for (let at = minute - MINUTES; at <= minute; at++)
    await bulk.insert(
      'usage_minute',
      detailRows(population, random, sizes.keys / 500).map((row) => ({
        ...{ ...row, minute: at, epoch: 'run', plan_id: 'default' },
      })),
    );
  const hour = Math.floor(minute / 60);
  for (let at = hour - DAYS * 24; at <= hour; at++)
    await bulk.insert(
      'usage_hour',
      detailRows(population, random, sizes.keys / 70).map((row) => ({
        ...{ ...row, hour: at, last_minute: at * 60 },
      })),
    );
  const day = Math.floor(hour / 24);
  for (let at = day - DAYS; at <= day; at++)
    await bulk.insert(
      'usage_day',
      detailRows(population, random, sizes.keys / 5).map((row) => ({
        ...{ ...row, day: at, last_minute: at * 1_440 },
      })),
    );
  for (const step of ['minute', 'hour', 'day'] as const) await addTotals(bulk, step);
  await createIndexes();
  await bulk.insert('usage_epoch', [{ epoch: 'run', written_at: now, gateway: 'gateway-0' }]);
  // The newest buckets are not rolled up yet, as in a running service.
  await bulk.insert('usage_mark', [
    { kind: 'minute', bucket: minute, epoch: 'run', token: 1 },
    { kind: 'minute', bucket: minute - 1, epoch: 'run', token: 1 },
    { kind: 'total_hour', bucket: hour, epoch: '', token: 1 },
    { kind: 'total_day', bucket: day, epoch: '', token: 1 },
  ]);
}
