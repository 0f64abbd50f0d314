import { expect, it } from 'vitest';
import { type Plan, syncPlans } from '../../src/control/plans.ts';
import { defaultPlanLimits } from '../../src/gateway/auth/key-record.ts';
import {
  firstOperator,
  joinByInvitation,
  type LooseJson,
  openAccountsFixture,
} from './accounts/accounts-fixture.ts';
import { describeOnBothStores } from './stores.ts';

describeOnBothStores('configured plans', ({ open }) => {
  it('are all written, once each, by gateways that start together', async () => {
    const store = await open();
    const plans: readonly Plan[] = ['a', 'b'].map((id) => ({ id, name: id, limits: defaultPlanLimits }));
    await Promise.all([syncPlans(store, plans.slice(0, 1), 'one'), syncPlans(store, plans, 'two')]);
    const rows = await store.db.selectFrom('plan').select('id').orderBy('id').execute();
    expect(rows).toMatchObject([{ id: 'a' }, { id: 'b' }]);
    const audit = await store.db.selectFrom('audit').select('action').execute();
    expect(audit).toEqual([{ action: 'plan.set' }, { action: 'plan.set' }]);
  });
});

const PRICE = { currency: 'usd', monthlyPrice: 4_900, includedCredits: 1_000_000, pricePerMillion: 500 };

describeOnBothStores('plans of the API', ({ open }) => {
  async function start() {
    const fixture = await openAccountsFixture(await open());
    const operator = await firstOperator(fixture);
    const at = (path: string) => `/api/v1/plans${path}`;
    const change = (id: string, body: object) => operator.send('PATCH', at(`/${id}`), { body });
    const create = (id: string, more: object = {}) => operator.post(at(''), { id, ...more });
    const plan = async (id: string) =>
      (await operator.get(at(''))).json.plans.find((one: LooseJson) => one.id === id);
    const auditOf = (action: string) =>
      fixture.store.db.selectFrom('audit').select('detail').where('action', '=', action).execute();
    return { fixture, operator, at, change, create, plan, auditOf };
  }

  it('are created, edited and undone once, and the audit log has both changes', async () => {
    const { operator, at, change, create, plan, auditOf } = await start();
    const made = (await create('pro', { limits: { monthlyCredits: 7 }, price: PRICE })).json;
    expect(made).toMatchObject({
      name: 'pro',
      source: 'stored',
      price: PRICE,
      archivedAt: null,
      undoAt: null,
    });
    expect(made.limits).toEqual({ ...defaultPlanLimits, monthlyCredits: 7 });
    expect((await create('pro')).json.error).toMatchObject({ code: 'PLAN_EXISTS' });
    const price = { ...PRICE, monthlyPrice: 5_900 };
    await change('pro', { name: 'Pro', limits: { rpcPerSecond: 5 }, price });
    const changed = await plan('pro');
    expect(changed).toMatchObject({ name: 'Pro', price, undoAt: expect.any(Number) });
    expect(changed.limits).toEqual({ ...made.limits, rpcPerSecond: 5 });
    expect((await operator.post(at('/pro/undo'))).json).toEqual(made);
    expect((await operator.post(at('/pro/undo'))).json.error).toMatchObject({ code: 'NOTHING_TO_UNDO' });
    const [set, undone] = [await auditOf('plan.set'), await auditOf('plan.undo')];
    expect(JSON.parse(set.at(-1)!.detail)).toMatchObject({
      plan: 'pro',
      rpcPerSecond: 5,
      monthlyPrice: 5_900,
    });
    expect(JSON.parse(undone[0]!.detail)).toMatchObject({ plan: 'pro', monthlyPrice: 4_900 });
    expect((await change('pro', { price: null })).json.price).toBeNull();
    await operator.post(at('/pro/undo'));
    expect((await plan('pro')).price).toEqual(PRICE);
  });

  it('of the configuration are read-only, and invalid fields are named', async () => {
    const { operator, at, change, create, plan } = await start();
    expect(await plan('default')).toMatchObject({ source: 'file' });
    for (const response of [
      await change('default', { name: 'x' }),
      await operator.send('DELETE', at('/default')),
      await operator.post(at('/default/archive')),
      await create('default'),
    ])
      expect([response.status, response.json.error.code]).toEqual([409, 'FILE_PLAN']);
    expect((await change('none', {})).status).toBe(404);
    for (const [body, field] of [
      [{ id: 'No' }, 'id'],
      [{ limits: { rpcBurst: 0 } }, 'limits.rpcBurst'],
      [{ limits: { other: 1 } }, 'limits.other'],
      [{ price: { ...PRICE, currency: 'xxx1' } }, 'price.currency'],
      [{ price: { ...PRICE, currency: 'zzz' } }, 'price.currency'],
      [{ price: { ...PRICE, monthlyPrice: 0.5 } }, 'price.monthlyPrice'],
    ] as const) {
      const { status, json } = await create('new', body);
      expect([status, Object.keys(json.error.fields)[0]]).toEqual([422, field]);
    }
  });

  it('are archived while used, deleted only if never used', async () => {
    const { operator, at, create, plan } = await start();
    await create('pro');
    const customers = '/api/v1/customers';
    const { id } = (await operator.post(customers, { name: 'Acme' })).json;
    const move = (planId: string) => operator.send('PATCH', `${customers}/${id}`, { body: { planId } });
    await move('pro');
    const makeKey = (planId: string) =>
      operator.post(`${customers}/${id}/keys`, { product: 'rpc', name: 'x', planId });
    expect((await operator.send('DELETE', at('/pro'))).json.error.code).toBe('PLAN_IN_USE');
    expect((await operator.post(at('/pro/archive'))).json.archivedAt).toEqual(expect.any(Number));
    expect((await makeKey('pro')).status).toBe(200);
    await move('default');
    expect((await move('pro')).json.error.fields).toHaveProperty('planId');
    expect((await makeKey('pro')).json.error.fields).toHaveProperty('planId');
    expect((await operator.get('/api/v1/me')).json.service.plans).not.toContainEqual({
      id: 'pro',
      name: 'pro',
    });
    expect((await operator.post(at('/pro/restore'))).json.archivedAt).toBeNull();
    expect((await operator.get('/api/v1/me')).json.service.plans).toContainEqual({ id: 'pro', name: 'pro' });
    await create('unused', { price: PRICE });
    expect((await operator.send('DELETE', at('/unused'))).status).toBe(200);
    expect(await plan('unused')).toBeUndefined();
  });

  it('return a customer and the keys of its last plan change by an undo', async () => {
    const { fixture, operator, create, auditOf } = await start();
    await create('pro');
    const { id } = (await operator.post('/api/v1/customers', { name: 'Acme' })).json;
    const own = `/api/v1/customers/${id}`;
    const makeKey = async (planId?: string): Promise<string> =>
      (await operator.post(`${own}/keys`, { product: 'rpc', name: 'x', planId })).json.key.id;
    const [follows, stays] = [await makeKey(), await makeKey('pro')];
    await operator.send('PATCH', own, { body: { planId: 'pro' } });
    const row = (await operator.get('/api/v1/customers?search=acme')).json.items[0];
    expect(row).toMatchObject({ planId: 'pro', planUndo: { planId: 'default' } });
    const later = await makeKey();
    const admin = await joinByInvitation(fixture, operator, id, 'admin@example.com', 'admin');
    expect((await admin.post(`${own}/plan/undo`)).json.error.code).toBe('OPERATOR_ONLY');
    expect((await operator.post(`${own}/plan/undo`)).json).toEqual({ planId: 'default' });
    const plans = await fixture.store.db.selectFrom('api_key').select(['id', 'plan_id']).execute();
    const planOf = (key: string) => plans.find((one) => one.id === key)?.plan_id;
    expect([follows, stays, later].map(planOf)).toEqual(['default', 'pro', 'default']);
    expect((await operator.get(own)).json.planId).toBe('default');
    expect((await operator.post(`${own}/plan/undo`)).json.error.code).toBe('NOTHING_TO_UNDO');
    const details = [...(await auditOf('customer.change')), ...(await auditOf('customer.plan-undo'))];
    expect(details.map(({ detail }) => JSON.parse(detail))).toEqual([
      { plan_id: 'pro', plan_id_before: 'default' },
      { plan_id: 'default', plan_id_before: 'pro' },
    ]);
  });
});
