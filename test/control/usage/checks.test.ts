import { expect, it } from 'vitest';
import { usageHandlers } from '../../../src/control/api/handlers/usage.ts';
import type { ApiServices } from '../../../src/control/api/services.ts';
import type { Store } from '../../../src/control/database/open.ts';
import { type CheckResult, runChecks } from '../../../src/control/usage/usage-checks.ts';
import { UsageRoller } from '../../../src/control/usage/usage-roller.ts';
import { describeOnBothStores } from '../stores.ts';
import { addKeys, EDGE, EDGE_MINUTE, rollUpAt, usageRow, write } from './usage-fixture.ts';

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
  it('find wrong sums, decreases, unknown keys and unjustified costs', async () => {
    const store = await openWithUsage(open);
    await check(store);
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
      'the minutes of an hour add up to the hour',
      'the hours of a day add up to the day',
      'the totals of an hour are those of its keys',
    ]);
    await db.updateTable('usage_hour').set({ requests: 3 }).where('hour', '=', HOUR).execute();
    expect(
      await broken(() =>
        db.updateTable('usage_method').set({ credits: 0 }).where('step', '=', 'hour').execute(),
      ),
    ).toEqual(['the totals of methods are those of customers']);
    expect(await broken(() => db.deleteFrom('usage_day').execute())).toContain(
      'the hours of a day add up to the day',
    );
    expect(
      await broken(() => db.deleteFrom('usage_minute').where('minute', '=', EDGE_MINUTE).execute()),
    ).toContain('what a run of a gateway counted never becomes less');
    expect(
      await broken(() => db.updateTable('usage_hour').set({ customer_id: '', status: 'limited' }).execute()),
    ).toEqual(
      expect.arrayContaining([
        'whatever is used is used with a key that exists',
        'nothing costs credits that was refused by a limit or did not happen',
      ]),
    );
  });

  it('run hourly, are stored for the operator, and report violations', async () => {
    const store = await openWithUsage(open);
    await store.db.updateTable('usage_day').set({ requests: 99 }).execute();
    const reported: CheckResult[] = [];
    const clock = { now: NOW + 2 * HOUR_MS };
    const roller = new UsageRoller({
      store,
      now: () => clock.now,
      onViolation: (found) => reported.push(found),
    });
    await roller.round();
    await roller.round();
    expect(reported).toMatchObject([{ name: 'the hours of a day add up to the day', violations: 2 }]);
    const services = { store, now: () => clock.now, endpoints: [] } as unknown as ApiServices;
    const { checks } = await usageHandlers(services)['GET /checks'](
      { path: {} as never, query: null, body: null },
      {} as never,
    );
    expect(checks.length).toBe(7);
    expect(checks.filter(({ violations }) => violations > 0)).toEqual([
      {
        name: 'the hours of a day add up to the day',
        violations: 2,
        ranAt: clock.now,
        example: expect.stringMatching(/^day \d+: 99 requests and/),
      },
    ]);
    clock.now += HOUR_MS + 1;
    await roller.round();
    expect(reported).toHaveLength(2);
    await roller.stop();
  });
});
