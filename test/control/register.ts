import type { Store } from '../../src/control/database/store.ts';
import type { KeyRegister } from '../../src/control/keys/key-register.ts';
import type { Peppers } from '../../src/control/pepper.ts';
import { syncPlans } from '../../src/control/plans.ts';
import { defaultPlanLimits } from '../../src/gateway/auth/key-record.ts';

export const testPeppers: Peppers = { current: 1, secrets: new Map([[1, Buffer.alloc(32, 7)]]) };

export async function registerOn(
  store: Store,
  options: Partial<KeyRegister> & { clock?: { now: number } } = {},
): Promise<KeyRegister> {
  const { clock = { now: 1_700_000_000_000 }, ...rest } = options;
  const limits = { ...defaultPlanLimits, rpcPerSecond: 10, rpcBurst: 20 };
  await syncPlans(store, [{ id: 'default', name: 'default', limits }], 'test');
  return { store, peppers: testPeppers, actor: 'test', keysMax: 1_000, now: () => clock.now, ...rest };
}
