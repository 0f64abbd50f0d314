import { expect, it } from 'vitest';
import type { Store } from '../../../src/control/database/open.ts';
import { addMissingPlans, type Plan, syncPlans } from '../../../src/control/plans.ts';
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
  it.each([
    ['name', plan({ name: 'Golden' })],
    ['rate', plan({ limits: { ...limits, rpcPerSecond: 11 } })],
    ['burst', plan({ limits: { ...limits, rpcBurst: 21 } })],
    ['number of connections', plan({ limits: { ...limits, wsConnectionsMax: 9 } })],
    ['number of subscriptions', plan({ limits: { ...limits, wsSubscriptionsMax: 9 } })],
    ['length of messages', plan({ limits: { ...limits, wsMessageMaxBytes: 9_000 } })],
    ['number of streams', plan({ limits: { ...limits, grpcStreamsMax: 9 } })],
    ['number of filters', plan({ limits: { ...limits, grpcFiltersMax: 9 } })],
    ['number of block filters', plan({ limits: { ...limits, grpcBlocksMax: 11 } })],
    ['number of addresses', plan({ limits: { ...limits, grpcPubkeysMax: 9 } })],
    ['size of cuckoo filters', plan({ limits: { ...limits, grpcCuckooMaxBytes: 9 } })],
  ])('are updated when the %s changes, and untouched otherwise', async (_, changed) => {
    const store = await open();
    await syncPlans(store, [plan()], 'test');
    const before = await stored(store);
    await syncPlans(store, [plan()], 'test');
    expect(await stored(store)).toEqual(before);
    await syncPlans(store, [changed], 'test');
    expect(await stored(store)).toEqual([
      {
        id: 'gold',
        name: changed.name,
        rpc_per_second: changed.limits.rpcPerSecond,
        rpc_burst: changed.limits.rpcBurst,
        ws_connections_max: changed.limits.wsConnectionsMax,
        ws_subscriptions_max: changed.limits.wsSubscriptionsMax,
        ws_message_max_bytes: changed.limits.wsMessageMaxBytes,
        grpc_streams_max: changed.limits.grpcStreamsMax,
        grpc_filters_max: changed.limits.grpcFiltersMax,
        grpc_blocks_max: changed.limits.grpcBlocksMax,
        grpc_pubkeys_max: changed.limits.grpcPubkeysMax,
        grpc_cuckoo_max_bytes: changed.limits.grpcCuckooMaxBytes,
        monthly_credits: changed.limits.monthlyCredits,
        quota_is_hard: changed.limits.quotaIsHard ? 1 : 0,
        stream_credits: changed.limits.streamCredits,
        prices: JSON.stringify(changed.limits.prices),
        version: 2,
      },
    ]);
    const audit = await store.db.selectFrom('audit').select(['action', 'actor']).execute();
    expect(audit).toEqual(Array(2).fill({ action: 'plan.set', actor: 'test' }));
  });

  it('stay when removed from the configuration, and commands only add new ones', async () => {
    const store = await open();
    await syncPlans(store, [plan()], 'test');
    const silver = plan({ id: 'silver', name: 'Silver' });
    await addMissingPlans(store, [plan({ name: 'other' }), silver], 'test');
    await syncPlans(store, [silver], 'test');
    expect((await stored(store)).map(({ name }) => name)).toEqual(['Gold', 'Silver']);
  });
});
