import { expect, it } from 'vitest';
import type { Store } from '../../../src/control/database/store.ts';
import { syncPlans } from '../../../src/control/plans.ts';
import { creditsOfMonth, QuotaReader, quotaReaderTimings } from '../../../src/control/shared/quota-reader.ts';
import { rollUp } from '../../../src/control/usage/roll-up.ts';
import { defaultPlanLimits } from '../../../src/gateway/auth/key-record.ts';
import { QuotaLedger } from '../../../src/gateway/limits/quota.ts';
import { describeOnBothStores } from '../stores.ts';
import { addKeys, usageRow, write } from '../usage/usage-fixture.ts';

const NOVEMBER = Date.UTC(2026, 10, 1);
const NOW = Date.UTC(2026, 10, 22, 12, 30);
const MINUTE = 60_000;
const key = {
  customerId: 'house',
  planId: 'small',
  limits: { ...defaultPlanLimits, monthlyCredits: 1_000 },
};

describeOnBothStores('the credits used in a month', ({ kind, open }) => {
  async function opened(): Promise<Store> {
    const store = await open();
    const plan = (id: string, monthlyCredits: number) => ({
      id,
      name: id,
      limits: { ...defaultPlanLimits, monthlyCredits },
    });
    await syncPlans(store, [plan('small', 1_000), plan('free', 0)], 'test');
    await addKeys(store, 'house', { 'k-small': 'small', 'k-free': 'free' });
    return store;
  }

  const use = (store: Store, at: number, credits: number, epoch = 'other', plan = 'small') =>
    write(store, [usageRow({ keyId: `k-${plan}`, minute: Math.floor(at / MINUTE), credits })], epoch);

  function reading(store: Store, now: () => number = () => NOW) {
    const ledger = new QuotaLedger();
    const reader = new QuotaReader({ ...quotaReaderTimings, store, ledger, runId: 'this', now });
    const left = () => ledger.status(key, now())?.remaining;
    return { ledger, reader, left };
  }

  it('are the sum of days, hours and minutes, rolled up or not', async () => {
    const store = await opened();
    await use(store, NOVEMBER - MINUTE, 500);
    await use(store, NOVEMBER, 1);
    await use(store, NOVEMBER + 5 * 86_400_000, 20);
    await use(store, NOW - 5 * 3_600_000, 300);
    await use(store, NOW - 70 * MINUTE, 4);
    await use(store, NOW, 50);
    await use(store, NOW, 99, 'other', 'free');
    const sum = [{ customerId: 'house', planId: 'small', credits: 375 }];
    expect(await creditsOfMonth(store, NOVEMBER, NOW)).toEqual(sum);
    await rollUp(store, NOW, async () => true);
    expect(await creditsOfMonth(store, NOVEMBER, NOW)).toEqual(sum);
    await use(store, NOW - 5 * 3_600_000 + MINUTE, 1_000);
    expect(await creditsOfMonth(store, NOVEMBER, NOW)).toEqual([{ ...sum[0], credits: 1_375 }]);
  });

  // The remaining tests do not depend on the SQL dialect.
  if (kind === 'postgres') return;

  it('include the usage of other gateways, and count nothing twice', async () => {
    const store = await opened();
    let now = NOW;
    await use(store, now, 100);
    await use(store, now - 2 * MINUTE, 10);
    const { ledger, reader, left } = reading(store, () => now);
    await reader.start();
    expect(left()).toBe(890);
    ledger.spend(key, 40, now);
    await use(store, now, 40, 'this');
    await use(store, now, 150);
    await reader.read();
    expect(left()).toBe(800);
    for (let minute = 0; minute < 12; minute++) {
      now += MINUTE;
      await use(store, now, 10);
      await reader.read();
      await reader.read();
    }
    expect(left()).toBe(680);
    await reader.recount();
    expect(left()).toBe(680);
    await reader.stop();
  });

  it('include usage written late, even if the recount starts during a read', async () => {
    const store = await opened();
    const { reader, left } = reading(store);
    await reader.start();
    await use(store, NOW - 60 * MINUTE, 30);
    await Promise.all([reader.read(), reader.recount()]);
    await reader.stop();
    expect(left()).toBe(970);
  });

  it('reset at the start of a month', async () => {
    const store = await opened();
    let now = NOW;
    await use(store, now, 100);
    const { reader, left } = reading(store, () => now);
    await reader.start();
    now = Date.UTC(2026, 11, 1, 0, 1);
    await use(store, now, 7);
    left();
    await reader.read();
    await reader.stop();
    expect(left()).toBe(993);
  });
});
