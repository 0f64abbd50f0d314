import { expect, it } from 'vitest';
import { type Plan, syncPlans } from '../../src/control/plans.ts';
import { defaultPlanLimits } from '../../src/gateway/auth/key-record.ts';
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
