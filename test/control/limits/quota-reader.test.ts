import { expect, it } from 'vitest';
import type { Store } from '../../../src/control/database/open.ts';
import { creditsOfMonth, QuotaReader, quotaReaderLimits } from '../../../src/control/shared/quota-reader.ts';
import { rollUp } from '../../../src/control/usage/roll-up.ts';
import { defaultPlanLimits } from '../../../src/gateway/auth/key-record.ts';
import { QuotaLedger } from '../../../src/gateway/limits/quota.ts';
import { describeOnBothStores } from '../stores.ts';

const NOVEMBER = Date.UTC(2026, 10, 1);
const NOW = Date.UTC(2026, 10, 22, 12, 30);
const MINUTE = 60_000;
const key = {
  customerId: 'house',
  planId: 'small',
  limits: { ...defaultPlanLimits, monthlyCredits: 1_000 },
};

describeOnBothStores('the used credits of a month', ({ kind, open }) => {
  async function opened(): Promise<Store> {
    const store = await open();
    const plan = {
      ...{ name: 'Plan', rpc_per_second: 1, rpc_burst: 1, ws_connections_max: 1, ws_subscriptions_max: 1 },
      ...{ ws_message_max_bytes: 1, grpc_streams_max: 1, grpc_filters_max: 1, grpc_blocks_max: 1 },
      ...{ grpc_pubkeys_max: 1, grpc_cuckoo_max_bytes: 1, quota_is_hard: 1, stream_credits: 0, prices: '{}' },
    };
    await store.db
      .insertInto('plan')
      .values([
        { ...plan, id: 'small', monthly_credits: 1_000, version: 1 },
        { ...plan, id: 'free', monthly_credits: 0, version: 2 },
      ])
      .execute();
    return store;
  }

  async function use(store: Store, at: number, credits: number, epoch = 'other', plan = 'small') {
    const row = {
      ...{ minute: Math.floor(at / MINUTE), epoch, key_id: `k-${plan}`, product: 'rpc' as const },
      ...{ method: 'getSlot', status: 'ok' as const, requests: credits, bytes_in: 0, bytes_out: 0 },
      ...{ credits, messages: 0, latency: '', customer_id: 'house', plan_id: plan },
    };
    await store.db
      .insertInto('usage_minute')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(['minute', 'epoch', 'key_id', 'product', 'method', 'status'])
          .doUpdateSet({ credits, requests: credits }),
      )
      .execute();
    const hour = Math.floor(row.minute / 60);
    await store.db
      .insertInto('usage_mark')
      .values([
        { kind: 'minute', bucket: row.minute, epoch, token: credits },
        { kind: 'hour', bucket: hour, epoch, token: credits },
      ])
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  function reading(store: Store, now: () => number = () => NOW) {
    const ledger = new QuotaLedger();
    const reader = new QuotaReader({ ...quotaReaderLimits, store, ledger, epoch: 'this', now });
    const left = () => ledger.status(key, now())?.remaining;
    return { ledger, reader, left };
  }

  it('is the sum of days, hours and minutes, rolled up or not', async () => {
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

  // The others do not depend on the dialect.
  if (kind === 'postgres') return;

  it('is known after a restart before any call is admitted', async () => {
    const store = await opened();
    await use(store, NOW - 3 * 86_400_000, 600);
    await use(store, NOW, 100);
    const { reader, left } = reading(store);
    await reader.start();
    await reader.stop();
    expect(left()).toBe(300);
  });

  it('grows with the use of other gateways, and counts nothing twice', async () => {
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

  it('includes late writes of an earlier run', async () => {
    const store = await opened();
    const { ledger, reader, left } = reading(store);
    await reader.start();
    ledger.spend(key, 5, NOW);
    await use(store, NOW - 3_600_000, 70, 'earlier');
    await reader.recount();
    await reader.stop();
    expect(left()).toBe(930);
  });

  it('resets with the month', async () => {
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
