import fc from 'fast-check';
import { expect, it } from 'vitest';
import { usageHandlers } from '../../../src/control/api/handlers/usage.ts';
import type { ApiServices } from '../../../src/control/api/services.ts';
import type { Store } from '../../../src/control/database/store.ts';
import { databaseUpkeep } from '../../../src/control/usage/database-upkeep.ts';
import { axisOver, readSums } from '../../../src/control/usage/read-usage.ts';
import { finishRollUp, rollHourDetails, rollMinute } from '../../../src/control/usage/roll-up.ts';
import { type CheckResult, runChecks } from '../../../src/control/usage/usage-checks.ts';
import { acquireLease } from '../../../src/control/usage/usage-lease.ts';
import { pruneUsage, usageRetention } from '../../../src/control/usage/usage-retention.ts';
import { UsageRoller } from '../../../src/control/usage/usage-roller.ts';
import { markStale, readMarks, type StoredUsage } from '../../../src/control/usage/usage-rows.ts';
import { describeOnBothStores, describeOnSqlite } from '../stores.ts';
import {
  addKeys,
  allOf,
  EDGE,
  EDGE_MINUTE,
  forgetUsage,
  LATER,
  rollUpAt,
  sumsByTable,
  usageRow,
  write,
} from './usage-fixture.ts';

const DAY_MS = 86_400_000;

async function readAll(store: Store, step: 'minute' | 'hour' | 'day'): Promise<number> {
  const axis = axisOver(step, EDGE - DAY_MS, EDGE + 2 * DAY_MS);
  let requests = 0;
  await readSums(store, { axis, filter: { customerId: 'acme' } }, [], (row) => {
    requests += row.requests;
  });
  return requests;
}

describeOnBothStores('the roll-up of usage', ({ kind, open, migrated }) => {
  it('computes hours, days and totals from minutes, in UTC', async () => {
    const store = await open();
    await addKeys(store, 'acme', { AAAAAAAA: 'default', BBBBBBBB: 'default' });
    await write(store, [
      usageRow({ requests: 1, latency: '3:1' }),
      usageRow({ requests: 2, minute: EDGE_MINUTE + 19, latency: '3:1,77:1' }),
      usageRow({ requests: 4, minute: EDGE_MINUTE + 20, latency: '5:4' }),
      usageRow({ requests: 8, keyId: 'BBBBBBBB', method: 'getBalance', status: 'limited', latency: '' }),
      usageRow({ requests: 16, keyId: null, status: 'client', method: 'other', latency: '' }),
    ]);
    await rollUpAt(store, LATER);
    expect(await sumsByTable(store)).toEqual(allOf(31));
    const hours = await store.db
      .selectFrom('usage_hour')
      .select(['hour', 'customer_id', 'key_id', 'method', 'status', 'requests', 'latency', 'last_minute'])
      .orderBy('requests')
      .execute();
    const hour = EDGE_MINUTE / 60 - 1 / 3 - 1 / 3;
    expect(hours).toEqual([
      {
        ...{ hour: Math.floor(EDGE_MINUTE / 60), customer_id: 'acme', key_id: 'AAAAAAAA', method: 'getSlot' },
        ...{ status: 'ok', requests: 3, latency: '3:2,77:1', last_minute: EDGE_MINUTE + 19 },
      },
      expect.objectContaining({ hour: Math.round(hour) + 1, requests: 4, latency: '5:4' }),
      expect.objectContaining({ key_id: 'BBBBBBBB', status: 'limited', requests: 8 }),
      expect.objectContaining({ key_id: '', customer_id: 'house', requests: 16 }),
    ]);
    const days = await store.db
      .selectFrom('usage_day')
      .select(['day', 'requests'])
      .orderBy('requests')
      .execute();
    const november = Date.UTC(2026, 10, 1) / DAY_MS;
    expect(days.map(({ day }) => day - november)).toEqual([-1, 0, -1, -1]);
    expect(await store.db.selectFrom('usage_mark').selectAll().execute()).toEqual([]);
  });

  it('writes nothing if its sources changed after it read them', async () => {
    const database = await migrated();
    const [store, other] = [await open(database), await open(database)];
    await addKeys(store, 'acme', { AAAAAAAA: 'default' });
    await write(store, [usageRow({ requests: 1 })]);
    // The check of the marks must detect a write after the read.
    let changed = false;
    const watched = {
      ...store,
      db: new Proxy(store.db, {
        get(db, name) {
          const member: unknown = Reflect.get(db, name);
          if (typeof member !== 'function') return member;
          if (name !== 'transaction' || changed) return member.bind(db);
          changed = true;
          return () => ({
            execute: async (work: never) => {
              await write(other, [usageRow({ requests: 9 })], 'two');
              return db.transaction().execute(work);
            },
          });
        },
      }),
    };
    expect(await rollMinute(watched, EDGE_MINUTE)).toBe(false);
    changed = false;
    expect(await rollHourDetails(watched, Math.floor(EDGE_MINUTE / 60))).toBe(false);
    expect(await sumsByTable(store)).toMatchObject({ hours: 0, minuteTotals: 0 });
    await rollUpAt(store, LATER);
    expect(await sumsByTable(store)).toEqual(allOf(10));
  });

  it('gives the same result for any order and repetition of writes and roll-ups', async () => {
    const minutes = [-1, 0, 1, 19, 20, 21, 24 * 60].map((offset) => EDGE_MINUTE + offset);
    const writing = fc.record({
      epoch: fc.constantFrom('one', 'two'),
      keyId: fc.constantFrom('AAAAAAAA', 'BBBBBBBB', null),
      minute: fc.constantFrom(...minutes),
      method: fc.constantFrom('getSlot', 'getBalance'),
      status: fc.constantFrom('ok' as const, 'upstream' as const),
      requests: fc.integer({ min: 1, max: 9 }),
    });
    const rolling = fc.record({ rollUpAfter: fc.constantFrom(1, 25, 1_500, 3_000) });
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: writing }, rolling), { maxLength: 14 });
    const store = await open();
    await addKeys(store, 'acme', { AAAAAAAA: 'default', BBBBBBBB: 'default' });
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        await forgetUsage(store);
        const truth = new Map<string, { row: StoredUsage }>();
        for (const step of script) {
          if ('rollUpAfter' in step) {
            await rollUpAt(store, EDGE + step.rollUpAfter * 60_000);
            continue;
          }
          const { epoch, ...fields } = step;
          const row = usageRow(fields);
          await write(store, [row], epoch);
          const name = `${epoch} ${row.keyId} ${row.minute} ${row.method} ${row.status}`;
          if ((truth.get(name)?.row.requests ?? 0) < row.requests) truth.set(name, { row });
        }
        const rows = [...truth.values()].map(({ row }) => row);
        const sum = (retained: readonly StoredUsage[]) =>
          retained.reduce((total, row) => total + row.requests, 0);
        const acme = sum(rows.filter(({ keyId }) => keyId !== null));
        expect(
          await Promise.all((['minute', 'hour', 'day'] as const).map((step) => readAll(store, step))),
        ).toEqual([acme, acme, acme]);
        await rollUpAt(store, LATER);
        await rollUpAt(store, LATER);
        expect(await sumsByTable(store)).toEqual(allOf(sum(rows)));
        expect(await readAll(store, 'day')).toBe(acme);
      }),
      { numRuns: kind === 'sqlite' ? 6 : 2 },
    );
  });

  it('prunes level by level, and only what is rolled up', async () => {
    const store = await open();
    await addKeys(store, 'acme', { AAAAAAAA: 'default' });
    const retained = { minutesDays: 2, hoursDays: 10, daysDays: 20 };
    await write(store, [
      usageRow({ requests: 3 }),
      usageRow({ requests: 4, minute: EDGE_MINUTE + 5 * 1_440 }),
    ]);
    await pruneUsage(store, retained, LATER + 30 * DAY_MS);
    expect(await sumsByTable(store)).toMatchObject({ minutes: 7 });
    await rollUpAt(store, LATER + 10 * DAY_MS);
    await pruneUsage(store, retained, EDGE + 3 * DAY_MS);
    expect(await sumsByTable(store)).toEqual({ ...allOf(7), minutes: 4, minuteTotals: 4 });
    expect(await readAll(store, 'minute')).toBe(0);
    expect(await readAll(store, 'hour')).toBe(3);
    // Late rows are rejected for an hour whose minutes are pruned.
    expect(await write(store, [usageRow({ requests: 1 })], 'late')).toBe(1);
    await pruneUsage(store, retained, EDGE + 12 * DAY_MS);
    expect(await sumsByTable(store)).toMatchObject({
      minutes: 0,
      hours: 4,
      hourTotals: 4,
      days: 7,
      dayTotals: 7,
    });
    await pruneUsage(store, retained, EDGE + 22 * DAY_MS);
    expect(await sumsByTable(store)).toMatchObject({ days: 4, dayTotals: 4, methods: 4 });
    await pruneUsage(store, retained, EDGE + 40 * DAY_MS);
    expect(await sumsByTable(store)).toEqual(allOf(0));
  });

  it('runs in one of several gateways, and in another if that one stops or stalls', async () => {
    const database = await migrated();
    const [store, other] = [await open(database), await open(database)];
    await addKeys(store, 'acme', { AAAAAAAA: 'default' });
    const clock = { now: LATER };
    const options = { leaseMs: 60_000, now: () => clock.now };
    const one = new UsageRoller({ store, ...options });
    const two = new UsageRoller({ store: other, ...options });
    await write(store, [usageRow({ requests: 3 })]);
    await one.runOnce();
    expect(await sumsByTable(store)).toEqual(allOf(3));
    await write(store, [usageRow({ requests: 4 })]);
    await two.runOnce();
    expect(await sumsByTable(store)).toMatchObject({ hours: 3 });
    clock.now += 60_001;
    await two.runOnce();
    expect(await sumsByTable(store)).toEqual(allOf(4));
    await two.stop();
    await write(store, [usageRow({ requests: 5 })]);
    await one.runOnce();
    expect(await sumsByTable(store)).toEqual(allOf(5));
  });

  it('runs beside a gateway of an older version, which has the lease but fails', async () => {
    const store = await open();
    await write(store, [usageRow({ requests: 3, keyId: null })]);
    for (const name of ['roll-up', 'upkeep']) await acquireLease(store, name, 'older', LATER, 2 * DAY_MS);
    await new UsageRoller({ store, now: () => LATER }).runOnce();
    expect(await sumsByTable(store)).toEqual(allOf(3));
  });

  it('gives the same result if two gateways run it at once', async () => {
    const database = await migrated();
    const stores = [await open(database), await open(database)] as const;
    const rows = [0, 1, 61, 1_440].map((at) => usageRow({ minute: EDGE_MINUTE + at, keyId: null }));
    await write(stores[0], rows);
    await Promise.all(stores.map((store) => rollUpAt(store, LATER + DAY_MS)));
    expect(await sumsByTable(stores[0])).toEqual(allOf(4));
  });
});

describeOnSqlite('a bucket that always fails', ({ open }) => {
  it('does not block others, and is retried less often, until it succeeds', async () => {
    const store = await open();
    const hour = Math.floor(EDGE_MINUTE / 60);
    const mark = (...hours: number[]) =>
      store.db.transaction().execute((trx) =>
        markStale(
          trx,
          'run',
          hours.map((bucket) => ({ kind: 'clickhouse_hour', bucket })),
        ),
      );
    let isFailing = true;
    const attempts: number[] = [];
    const roll = async (_: Store, bucket: number): Promise<boolean> => {
      attempts.push(bucket - hour);
      if (isFailing && bucket === hour) throw new Error('rejected');
      return finishRollUp(store, await readMarks(store.db, 'clickhouse_hour', bucket), null);
    };
    const clock = { now: EDGE + 10 * HOUR_MS };
    const states: boolean[] = [];
    let upkeeps = 0;
    const roller = new UsageRoller({
      ...{ store, now: () => clock.now, rollUps: [{ kind: 'clickhouse_hour', roll }] },
      onState: (error) => states.push(error === null),
      upkeep: async () => void upkeeps++,
    });
    await mark(hour - 1, hour, hour + 1);
    for (let run = 0; run < 4; run++) await roller.runOnce();
    expect([attempts.splice(0), upkeeps, roller.isIncomplete]).toEqual([[1, 0, -1, 0, 0], 1, true]);
    await mark(hour + 2);
    clock.now += 60_000;
    await roller.runOnce();
    isFailing = false;
    await roller.runOnce();
    expect([attempts.splice(0), states]).toEqual([[2, 0], [false]]);
    clock.now += 60_000;
    await roller.runOnce();
    expect([attempts, states, roller.isIncomplete]).toEqual([[0], [false, true], false]);
    await roller.stop();
  });
});

const HOUR_MS = 3_600_000;
const NOW = EDGE + 22 * HOUR_MS;
const HOUR = Math.floor(EDGE_MINUTE / 60);

async function openWithUsage(open: () => Promise<Store>): Promise<Store> {
  const store = await open();
  await addKeys(store, 'acme', { AAAAAAAA: 'default' });
  await write(store, [usageRow({ requests: 3 }), usageRow({ requests: 4, minute: EDGE_MINUTE + 25 })]);
  await rollUpAt(store, NOW + 3 * HOUR_MS);
  return store;
}

const check = (store: Store): Promise<CheckResult[]> => runChecks(store, NOW, async () => true);

async function violated(store: Store): Promise<string[]> {
  return (await check(store)).flatMap(({ name, violations }) => (violations > 0 ? [name] : []));
}

describeOnBothStores('the usage consistency checks', ({ open }) => {
  it('detect wrong sums, decreases, unknown keys and unjustified costs', async () => {
    const store = await openWithUsage(open);
    expect(await violated(store)).toEqual([]);
    const { db } = store;
    const broken = async (work: () => Promise<unknown>): Promise<string[]> => {
      await work();
      return violated(store);
    };
    expect(
      await broken(() =>
        db.updateTable('usage_hour').set({ requests: 30 }).where('hour', '=', HOUR).execute(),
      ),
    ).toEqual([
      'Minute totals match hourly totals',
      'Hourly totals match daily totals',
      'Hourly totals match usage by key',
    ]);
    await db.updateTable('usage_hour').set({ requests: 3 }).where('hour', '=', HOUR).execute();
    expect(
      await broken(() =>
        db.updateTable('usage_method').set({ credits: 0 }).where('step', '=', 'hour').execute(),
      ),
    ).toEqual(['Totals by method match totals by customer']);
    expect(await broken(() => db.deleteFrom('usage_day').execute())).toContain(
      'Hourly totals match daily totals',
    );
    expect(
      await broken(() => db.deleteFrom('usage_minute').where('minute', '=', EDGE_MINUTE).execute()),
    ).toContain('Gateway counters never decrease');
    expect(
      await broken(() => db.updateTable('usage_hour').set({ customer_id: '', status: 'limited' }).execute()),
    ).toEqual(
      expect.arrayContaining([
        'Usage belongs to existing keys',
        'Credits are charged only for served requests',
      ]),
    );
  });

  it('run hourly, store results for the operator, and report violations', async () => {
    const store = await openWithUsage(open);
    await store.db.updateTable('usage_day').set({ requests: 99 }).execute();
    const reported: CheckResult[] = [];
    const clock = { now: NOW + 2 * HOUR_MS };
    const roller = new UsageRoller({
      store,
      now: () => clock.now,
      upkeep: databaseUpkeep(store, usageRetention, (found) => reported.push(found)),
    });
    await roller.runOnce();
    await roller.runOnce();
    expect(reported).toMatchObject([{ name: 'Hourly totals match daily totals', violations: 2 }]);
    const services = { store, now: () => clock.now, endpoints: [] } as unknown as ApiServices;
    const { checks } = await usageHandlers(services)['GET /checks'](
      { path: {} as never, query: null, body: null },
      {} as never,
    );
    expect(checks.length).toBe(7);
    expect(checks.filter(({ violations }) => violations > 0)).toEqual([
      {
        name: 'Hourly totals match daily totals',
        violations: 2,
        ranAt: clock.now,
        example: expect.stringMatching(/^day \d+: 99 requests and/),
      },
    ]);
    clock.now += HOUR_MS + 1;
    await roller.runOnce();
    expect(reported).toHaveLength(2);
    await roller.stop();
  });
});
