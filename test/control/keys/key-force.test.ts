import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Store } from '../../../src/control/database/open.ts';
import { nextVersion, transactAndNotify } from '../../../src/control/database/transaction.ts';
import { revokeKey } from '../../../src/control/keys/change-key.ts';
import { createKey, type NewKey } from '../../../src/control/keys/create-key.ts';
import { KeyFeed } from '../../../src/control/keys/key-feed.ts';
import type { KeyRegister } from '../../../src/control/keys/key-register.ts';
import { KeyDirectory } from '../../../src/gateway/auth/key-directory.ts';
import type { KeyId, KeyRecord } from '../../../src/gateway/auth/key-record.ts';
import { registerOn, testPeppers } from '../register.ts';
import { describeOnBothStores } from '../stores.ts';

/** Bounds for a change to take effect everywhere, normally and after a database outage. */
const BOUND_MS = 1_000;
const RETURN_BOUND_MS = 2_000;
const CHANGES = 200;

class Gateway extends KeyDirectory {
  readonly #seen = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();

  override apply(records: Iterable<KeyRecord>): KeyRecord[] {
    const taken = super.apply(records);
    for (const { id, status } of taken) {
      this.#seen.set(`${id} ${status}`, performance.now());
      this.#waiting.get(`${id} ${status}`)?.();
    }
    return taken;
  }

  async when(id: string, state: KeyRecord['status']): Promise<number> {
    const name = `${id} ${state}`;
    if (!this.#seen.has(name)) await new Promise<void>((resolve) => this.#waiting.set(name, resolve));
    return this.#seen.get(name)!;
  }

  again(id: string, state: KeyRecord['status']): Promise<number> {
    this.#seen.delete(`${id} ${state}`);
    return this.when(id, state);
  }
}

describeOnBothStores('a key change', ({ kind, fresh, open, defer, server }) => {
  async function cluster(cutsListen = false) {
    const place = await fresh();
    const register = await registerOn(await open(place), { now: Date.now, keysMax: 10_000 });
    const gateways: Gateway[] = [];
    for (let count = 0; count < 2; count++) {
      const store: Store = await open(place);
      const gateway = new Gateway({ peppers: testPeppers.secrets });
      const feed = new KeyFeed({ store: cutsListen ? { ...store, watch: null } : store, sink: gateway });
      await feed.start();
      defer(() => feed.stop());
      gateways.push(gateway);
    }
    return { register, gateways };
  }

  /** Sorted delays until each change is effective on the slowest gateway. */
  async function delays(register: KeyRegister, gateways: readonly Gateway[]): Promise<number[]> {
    const old: NewKey[] = [];
    for (let count = 0; count < CHANGES / 2; count++)
      old.push(await createKey(register, { product: 'rpc', name: 'x' }));
    for (const { key } of old) for (const gateway of gateways) await gateway.when(key.id, 'active');
    const pending: Promise<number>[] = [];
    const noted = (id: string, state: KeyRecord['status']) => {
      const doneAt = performance.now();
      pending.push(
        Promise.all(gateways.map((gateway) => gateway.when(id, state))).then((times) =>
          Math.max(...times.map((time) => time - doneAt)),
        ),
      );
    };
    for (const { key } of old) {
      const made = await createKey(register, { product: 'rpc', name: 'x' });
      noted(made.key.id, 'active');
      await revokeKey(register, key.id);
      noted(key.id, 'revoked');
      await turn();
    }
    return (await Promise.all(pending)).toSorted((one, other) => one - other);
  }

  for (const cutsListen of kind === 'postgres' ? [false, true] : [true])
    it(`is effective on every gateway within a second at p99, by ${cutsListen ? 'polling' : 'notification'}`, async () => {
      const { register, gateways } = await cluster(cutsListen);
      const sorted = await delays(register, gateways);
      expect(sorted).toHaveLength(CHANGES);
      expect(sorted[Math.ceil(CHANGES * 0.99) - 1]).toBeLessThan(BOUND_MS);
    });

  it('that suspends a customer stops its keys everywhere, until it is active again', async () => {
    const { register, gateways } = await cluster();
    const { key, secret } = await createKey(register, { product: 'rpc', name: 'x' });
    for (const state of ['suspended', 'active'] as const) {
      const seen = gateways.map((gateway) =>
        gateway.again(key.id, state === 'active' ? 'active' : 'disabled'),
      );
      await transactAndNotify(register.store, async (trx) => {
        const version = await nextVersion(trx);
        await trx.updateTable('customer').set({ state, version }).where('id', '=', 'house').execute();
      });
      const doneAt = performance.now();
      for (const time of await Promise.all(seen)) expect(time - doneAt).toBeLessThan(BOUND_MS);
      for (const gateway of gateways) {
        const use = () => gateway.authenticate(secret, Date.now()).id;
        if (state === 'active') expect(use()).toBe(key.id);
        else expect(use).toThrow('key');
      }
    }
  });

  it.runIf(kind === 'postgres')('is effective within 2 s after PostgreSQL returns', async () => {
    const { register, gateways } = await cluster();
    const { key } = await createKey(register, { product: 'rpc', name: 'x' });
    for (const gateway of gateways) await gateway.when(key.id, 'active');
    await server()!.kill();
    await server()!.start();
    const backAt = performance.now();
    await revokeKey(register, key.id).catch(() => revokeKey(register, key.id));
    const seen = await Promise.all(gateways.map((gateway) => gateway.when(key.id, 'revoked')));
    for (const time of seen) expect(time - backAt).toBeLessThan(RETURN_BOUND_MS);
    for (const gateway of gateways) expect(gateway.find(key.id as KeyId)).toBeUndefined();
  });
});
