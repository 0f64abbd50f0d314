import { expect, it } from 'vitest';
import type { Store } from '../../src/control/database/store.ts';
import type { GatewayProblem } from '../../src/control/health/problem.ts';
import { readProblems, readSpentQuotas } from '../../src/control/health/read-problems.ts';
import { createKey } from '../../src/control/keys/create-key.ts';
import { syncPlans } from '../../src/control/plans.ts';
import { GatewayHeartbeat } from '../../src/control/requests/gateway-heartbeat.ts';
import { defaultPlanLimits } from '../../src/gateway/auth/key-record.ts';
import { registerOn } from './register.ts';
import { describeOnBothStores } from './stores.ts';

const NOON = Date.UTC(2026, 10, 28, 12);
const MONTH = Date.UTC(2026, 10, 1);

const failing = (since: number): GatewayProblem => ({
  ...{ code: 'no_ready_node', severity: 'error', since, network: 'devnet', node: null },
  text: 'No node of devnet is ready.',
});

describeOnBothStores('the problems of the service', (stores) => {
  async function gateway(store: Store, host: string, problems: () => readonly GatewayProblem[]) {
    const idle = { nodes: () => [], connections: () => [], laggedMinutes: () => [] };
    const hooks = { ...idle, problems, setCordons() {}, closeConnection() {} };
    const heartbeat = new GatewayHeartbeat(store, hooks, { host, version: '1' }, { heartbeatMs: 3_600_000 });
    await heartbeat.refresh();
    stores.defer(() => heartbeat.stop());
    return heartbeat;
  }

  it('are those of all gateways, reported without waiting for the next heartbeat', async () => {
    const store = await stores.open();
    let problems: GatewayProblem[] = [];
    const one = await gateway(store, 'one', () => problems);
    const other = await gateway(store, 'other', () => problems.map((problem) => ({ ...problem, since: 5 })));
    const none = { problems: [], gatewayIds: [one.id, other.id].toSorted() };
    expect(await readProblems(store, NOON)).toEqual(none);
    problems = [failing(9)];
    await one.refresh();
    expect((await readProblems(store, NOON)).problems).toEqual([
      { ...failing(9), customer: null, gateways: [one.id], page: '/upstreams' },
    ]);
    await other.refresh();
    const [joined, ...more] = (await readProblems(store, NOON)).problems;
    expect([joined?.since, joined?.gateways.toSorted(), more]).toEqual([
      5,
      [one.id, other.id].toSorted(),
      [],
    ]);
    problems = [];
    await Promise.all([one.refresh(), other.refresh()]);
    expect((await readProblems(store, NOON)).problems).toEqual([]);
  });

  it('include spent quotas until the month ends or the plan includes more credits', async () => {
    const store = await stores.open();
    const plan = (monthlyCredits: number) =>
      syncPlans(
        store,
        [{ id: 'default', name: 'Standard', limits: { ...defaultPlanLimits, monthlyCredits } }],
        'test',
      );
    await createKey(await registerOn(store), { product: 'rpc', name: 'x' });
    await plan(100);
    const spent = { month: MONTH, customer_id: 'house', plan_id: 'default', used: 100, credits: 100, at: 7 };
    await store.db
      .insertInto('quota_notice')
      .values([80, 100].map((percent) => ({ ...spent, percent })))
      .execute();
    const [problem, ...more] = (await readProblems(store, NOON)).problems;
    expect(problem).toEqual({
      ...{ code: 'quota_spent', severity: 'warning', since: 7, network: null, node: null, gateways: [] },
      customer: { id: 'house', name: 'Default' },
      text: expect.stringMatching(
        /^Default has used all monthly credits of the plan Standard.* are rejected/,
      ),
      page: '/usage?customer=house',
    });
    expect(more).toEqual([]);
    expect(await readSpentQuotas(store, NOON, 'house')).toMatchObject([{ severity: 'error' }]);
    expect(await readSpentQuotas(store, NOON, 'other')).toEqual([]);
    expect(await readSpentQuotas(store, Date.UTC(2026, 11, 1))).toEqual([]);
    await plan(200);
    expect(await readSpentQuotas(store, NOON)).toEqual([]);
  });
});
