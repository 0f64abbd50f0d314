import type { KeyTable } from '../../../src/control/database/schema.ts';
import type { Store } from '../../../src/control/database/store.ts';
import { totalTables } from '../../../src/control/database/tables/usage.ts';
import { rollUp } from '../../../src/control/usage/roll-up.ts';
import type { StoredUsage } from '../../../src/control/usage/usage-rows.ts';
import { storeUsage } from '../../../src/control/usage/usage-rows.ts';
import type { UsageStatus } from '../../../src/gateway/metering/usage-status.ts';
import { registerOn } from '../register.ts';

/** Twenty minutes before November 2026 (UTC), so that an hour, a day and a month end within the test data. */
export const EDGE = Date.UTC(2026, 9, 31, 23, 40);
export const EDGE_MINUTE = EDGE / 60_000;

const HOUR_MS = 3_600_000;

/** A plausible row in which every counter equals the number of requests. */
export const usageRow = (fields: Partial<StoredUsage> = {}): StoredUsage => {
  const requests = fields.requests ?? 1;
  return {
    keyId: 'AAAAAAAA',
    product: 'rpc',
    method: 'getSlot',
    status: 'ok' as UsageStatus,
    network: 'devnet',
    code: '',
    minute: EDGE_MINUTE,
    requests,
    bytesIn: requests * 10,
    bytesOut: requests * 100,
    credits: requests * 2,
    messages: 0,
    latency: requests === 0 ? '' : `12:${requests}`,
    ...fields,
  };
};

export async function addKeys(
  store: Store,
  customerId: string,
  keys: Readonly<Record<string, string>>,
): Promise<void> {
  await registerOn(store);
  await store.db
    .insertInto('customer')
    .values({
      id: customerId,
      name: customerId,
      plan_id: 'default',
      state: 'active',
      created_at: 0,
      version: 0,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  for (const [id, plan_id] of Object.entries(keys)) {
    const version = -(await store.db.selectFrom('api_key').select('id').execute()).length - 1;
    const key: Omit<KeyTable, `${string}_from` | `${string}_used_at`> = {
      id,
      family_id: id,
      product: 'rpc',
      name: `name of ${id}`,
      digest: id,
      pepper_version: 1,
      state: 'active',
      plan_id,
      created_at: 0,
      expires_at: null,
      replaced_by: null,
      customer_id: customerId,
      is_public: 0,
      networks: '',
      cidrs: '',
      origins: '',
      methods: '',
      rate_per_second: null,
      rate_burst: null,
      address_per_second: null,
      logs_bodies: 0,
      never_back: 0,
      leaked_at: null,
      version,
    };
    await store.db
      .insertInto('api_key')
      .values({ ...key, last_used_at: null, last_used_from: null })
      .execute();
  }
}

export const write = (store: Store, rows: readonly StoredUsage[], epoch = 'one'): Promise<number> =>
  storeUsage(store, epoch, rows);

export const rollUpAt = (store: Store, nowMs: number): Promise<void> =>
  rollUp(store, nowMs, async () => true);

/** A time by which all rows around the boundary can be rolled up. */
export const LATER = EDGE + 72 * HOUR_MS;

export async function sumsByTable(store: Store) {
  const sum = async (table: 'usage_minute' | 'usage_hour' | 'usage_day'): Promise<number> => {
    const rows = await store.db.selectFrom(table).select('requests').execute();
    return rows.reduce((total, row) => total + row.requests, 0);
  };
  const sumTotals = async (table: (typeof totalTables)[number], step: 'minute' | 'hour' | 'day') => {
    const rows = await store.db.selectFrom(table).select('requests').where('step', '=', step).execute();
    return rows.reduce((total, row) => total + row.requests, 0);
  };
  return {
    minutes: await sum('usage_minute'),
    hours: await sum('usage_hour'),
    days: await sum('usage_day'),
    minuteTotals: await sumTotals('usage_total', 'minute'),
    hourTotals: await sumTotals('usage_total', 'hour'),
    dayTotals: await sumTotals('usage_total', 'day'),
    methods: await sumTotals('usage_method', 'day'),
    fleet: await sumTotals('usage_fleet', 'day'),
  };
}

export const allOf = (requests: number) => ({
  minutes: requests,
  hours: requests,
  days: requests,
  minuteTotals: requests,
  hourTotals: requests,
  dayTotals: requests,
  methods: requests,
  fleet: requests,
});

export async function forgetUsage({ db }: Store): Promise<void> {
  for (const table of ['usage_minute', 'usage_hour', 'usage_day', ...totalTables, 'usage_mark'] as const) {
    await db.deleteFrom(table).execute();
  }
}
