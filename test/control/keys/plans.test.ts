import { expect, it } from 'vitest';
import type { Store } from '../../../src/control/database/store.ts';
import { addMissingPlans, type Plan, planLimitsOf, syncPlans } from '../../../src/control/plans.ts';
import type { PlanLimits } from '../../../src/gateway/auth/key-record.ts';
import { describeOnBothStores } from '../stores.ts';

const limits: PlanLimits = {
  rpcPerSecond: 10,
  rpcBurst: 20,
  wsConnectionsMax: 3,
  wsSubscriptionsMax: 4,
  wsMessageMaxBytes: 5_000,
  grpcStreamsMax: 5,
  grpcFiltersMax: 6,
  grpcBlocksMax: 9,
  grpcPubkeysMax: 7,
  grpcCuckooMaxBytes: 8,
  monthlyCredits: 10,
  quotaIsHard: false,
  streamCredits: 11,
  prices: { getBalance: 12 },
};

const plan = (fields: Partial<Plan> = {}): Plan => ({
  id: 'gold',
  name: 'Gold',
  limits,
  ...fields,
});

const stored = (store: Store) => store.db.selectFrom('plan').selectAll().orderBy('id').execute();

describeOnBothStores('plans', ({ open }) => {
  it('are updated if any field changes, and left alone otherwise', async () => {
    const store = await open();
    await syncPlans(store, [plan()], 'test');
    const before = await stored(store);
    await syncPlans(store, [plan()], 'test');
    expect(await stored(store)).toEqual(before);
    const changes: Partial<PlanLimits>[] = [
      ...Object.keys(limits)
        .filter((name) => typeof limits[name as keyof PlanLimits] === 'number')
        .map((name) => ({ [name]: 77 })),
      ...[{ quotaIsHard: true }, { prices: {} }],
    ];
    let version = 1;
    for (const changed of [
      plan({ name: 'Golden' }),
      plan({ price: { currency: 'eur', monthlyPrice: 1, includedCredits: 2, pricePerMillion: 3 } }),
      ...changes.map((one) => plan({ limits: { ...limits, ...one } })),
    ]) {
      await syncPlans(store, [changed], 'test');
      const [row] = await stored(store);
      expect([row?.version, row?.name, planLimitsOf(row!)]).toEqual([
        ++version,
        changed.name,
        changed.limits,
      ]);
    }
    const audit = await store.db.selectFrom('audit').select(['action', 'actor']).execute();
    expect(audit).toEqual(Array(version).fill({ action: 'plan.set', actor: 'test' }));
  });

  it('remain when removed from the configuration; commands only add new ones', async () => {
    const store = await open();
    await syncPlans(store, [plan()], 'test');
    const silver = plan({ id: 'silver', name: 'Silver' });
    await addMissingPlans(store, [plan({ name: 'other' }), silver], 'test');
    await syncPlans(store, [silver], 'test');
    expect((await stored(store)).map(({ name }) => name)).toEqual(['Gold', 'Silver']);
  });
});
