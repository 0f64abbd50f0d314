import { EventEmitter, once } from 'node:events';
import { expect, it } from 'vitest';
import { deleteCustomer } from '../../../src/control/accounts/delete-customer.ts';
import { updateRows } from '../../../src/control/database/rows.ts';
import type { Store } from '../../../src/control/database/store.ts';
import { makeChange } from '../../../src/control/database/transaction.ts';
import { revokeKey } from '../../../src/control/keys/change-key.ts';
import { createKey } from '../../../src/control/keys/create-key.ts';
import { KeyFeed, type KeyFeedOptions } from '../../../src/control/keys/key-feed.ts';
import { InactiveKeyFailure, KeyAuthenticator } from '../../../src/gateway/auth/key-authenticator.ts';
import type { KeyId, KeyRecord } from '../../../src/gateway/auth/key-record.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { registerOn, testPeppers } from '../register.ts';
import { describeOnBothStores } from '../stores.ts';

const DAY_MS = 24 * 3_600_000;

const expire = (store: Store, id: string, at: number) =>
  store.db.updateTable('api_key').set({ expires_at: at }).where('id', '=', id).execute();

class WatchedDirectory extends KeyAuthenticator {
  readonly events = new EventEmitter();
  applied = 0;

  override apply(records: Iterable<KeyRecord>): KeyRecord[] {
    const taken = super.apply(records);
    this.applied += taken.length;
    if (taken.length > 0) this.events.emit('taken', taken);
    return taken;
  }

  override setStoreReachable(reachable: boolean): void {
    super.setStoreReachable(reachable);
    this.events.emit(reachable ? 'available' : 'unavailable');
  }
}

async function startFeed(store: Store, options: Partial<KeyFeedOptions>) {
  const directory = new WatchedDirectory({ peppers: testPeppers.secrets });
  const feed = new KeyFeed({ store, sink: directory, pollIntervalMs: 50, ...options });
  await feed.start();
  return { directory, feed, next: (event: string) => once(directory.events, event) };
}

function breakable(store: Store): { store: Store; away: boolean } {
  const state = {
    away: false,
    store: {
      ...store,
      // The watcher opens its own connection, which would bypass `away`.
      watch: null,
      get db() {
        if (state.away) throw new Error('the database is unreachable');
        return store.db;
      },
    },
  };
  return state;
}

describeOnBothStores('the key feed', ({ kind, open, defer }) => {
  async function follow(store: Store, options: Partial<KeyFeedOptions> = {}) {
    const followed = await startFeed(store, options);
    defer(() => followed.feed.stop());
    return followed;
  }

  it('does not load revoked keys, or keys that expired more than 30 days ago', async () => {
    const store = await open();
    const register = await registerOn(store, { now: Date.now });
    const [revoked, long, recently, living] = await Promise.all(
      ['revoked', 'long', 'recently', 'living'].map((name) => createKey(register, { product: 'rpc', name })),
    );
    await revokeKey(register, revoked!.key.id);
    await expire(store, long!.key.id, Date.now() - 31 * DAY_MS);
    await expire(store, recently!.key.id, Date.now() - 29 * DAY_MS);
    const { directory } = await follow(store);
    expect([directory.applied, directory.size]).toEqual([2, 2]);
    expect(directory.find(recently!.key.id as KeyId)).toBeDefined();
    expect(() => directory.authenticate(revoked!.secret, Date.now())).toThrow(Failure);
    expect(directory.authenticate(living!.secret, Date.now()).id).toBe(living!.key.id);
  });

  it('keeps the digests of revoked keys, for their use, but none of a deleted customer', async () => {
    const store = await open();
    const register = await registerOn(store, { now: Date.now });
    const { secret, key } = await createKey(register, { product: 'rpc', name: 'x' });
    const { directory, feed } = await follow(store);
    const isNamed = (): boolean => {
      try {
        directory.authenticate(secret, Date.now());
      } catch (thrown) {
        return thrown instanceof InactiveKeyFailure;
      }
      throw new Error('the key is accepted');
    };
    await revokeKey(register, key.id);
    await feed.refresh();
    expect(isNamed()).toBe(true);
    await makeChange(store, (trx, version) => deleteCustomer(trx, register, key.customerId, version));
    await feed.refresh();
    expect(isNamed()).toBe(false);
  });

  it('applies a revocation while it reads the many keys of a changed plan', async () => {
    const store = await open();
    const register = await registerOn(store);
    const names = Array.from({ length: 60 }, (_, nth) => String(nth));
    const created = await Promise.all(names.map((name) => createKey(register, { product: 'rpc', name })));
    const { id } = created[0]!.key;
    const applied: string[] = [];
    let revoked: Promise<unknown> | null = null;
    const sink = {
      apply(records: readonly KeyRecord[]) {
        applied.push(...records.map(({ status }) => status));
        if (applied.length > created.length) revoked ??= revokeKey(register, id);
      },
      setStoreReachable: () => undefined,
    };
    const feed = new KeyFeed({ store, sink, pollIntervalMs: 3_600_000, pageRows: 1 });
    defer(() => feed.stop());
    await feed.start();
    await makeChange(store, (trx, version) => updateRows(trx, 'plan', { id: 'default' }, { version }));
    await feed.refresh();
    await revoked;
    await feed.refresh();
    const at = applied.indexOf('revoked');
    expect([at > created.length, applied.length - at > 10]).toEqual([true, true]);
  });

  it('misses no revocation after an interrupted first load', async () => {
    const real = await open();
    const register = await registerOn(real);
    const early = await createKey(register, { product: 'rpc', name: 'on the first page' });
    for (let count = 0; count < 3; count++) await createKey(register, { product: 'rpc', name: 'x' });
    const broken = breakable(real);
    const directory = new WatchedDirectory({ peppers: testPeppers.secrets });
    const sink = {
      apply(records: readonly KeyRecord[]) {
        directory.apply(records);
        broken.away ||= directory.size === 1;
      },
      setStoreReachable: (reachable: boolean) => directory.setStoreReachable(reachable),
    };
    const feed = new KeyFeed({ store: broken.store, sink, pollIntervalMs: 50, pageRows: 1 });
    defer(() => feed.stop());
    await feed.start();
    expect([directory.size, directory.storeReachable]).toEqual([1, false]);
    await revokeKey(register, early.key.id);
    const back = once(directory.events, 'available');
    broken.away = false;
    await back;
    expect(directory.size).toBe(3);
    expect(() => directory.authenticate(early.secret, register.now())).toThrow(Failure);
  });

  it('keeps its keys while the store is unreachable, and catches up afterwards', async () => {
    const real = await open();
    const register = await registerOn(real);
    const known = await createKey(register, { product: 'rpc', name: 'x' });
    const broken = breakable(real);
    const states: string[] = [];
    const { directory, next } = await follow(broken.store, { onStoreState: (state) => states.push(state) });
    let event = next('unavailable');
    broken.away = true;
    await event;
    expect(directory.authenticate(known.secret, register.now()).id).toBe(known.key.id);
    const made = await createKey(register, { product: 'rpc', name: 'y' });
    expect(() => directory.authenticate(made.secret, register.now())).toThrow('cannot be checked');
    event = next('available');
    broken.away = false;
    await event;
    expect(directory.authenticate(made.secret, register.now()).id).toBe(made.key.id);
    expect(states).toEqual(['available', 'unavailable', 'available']);
  });

  it.runIf(kind === 'postgres')(
    'receives notifications of changes, and detects a stopped server long before the next poll',
    async () => {
      const store = await open();
      const register = await registerOn(store);
      const { directory, next } = await follow(store, { pollIntervalMs: 60_000 });
      // The poll after LISTEN may find the first key; only notifications can deliver the others.
      for (let count = 1; count <= 3; count++) {
        const taken = next('taken');
        await createKey(register, { product: 'rpc', name: 'x' });
        await taken;
        expect(directory.size).toBe(count);
      }
      const away = next('unavailable');
      const server = await sharedPostgres();
      await server.kill();
      await away;
      expect(directory.storeReachable).toBe(false);
      await server.start();
    },
  );
});
