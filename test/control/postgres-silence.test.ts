import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type OpenOptions, openDatabase, type Store } from '../../src/control/database/open.ts';
import { revokeKey } from '../../src/control/keys/change-key.ts';
import { createKey } from '../../src/control/keys/create-key.ts';
import { KeyFeed, type KeyFeedOptions } from '../../src/control/keys/key-feed.ts';
import { KeyAuthenticator } from '../../src/gateway/auth/key-authenticator.ts';
import { FreezingProxy } from './freezing-proxy.ts';
import { type PostgresServer, postgresPrograms, startPostgres } from './postgres-server.ts';
import { registerOn, testPeppers } from './register.ts';

/** Milliseconds until a revocation is effective while the server is reachable. */
const BOUND_MS = 2_000;

describe.skipIf(postgresPrograms === null)(
  'silent connections to PostgreSQL (skipped where it is not installed)',
  () => {
    let server: PostgresServer;
    let way: FreezingProxy;
    let elsewhere: Store;
    let place: string;
    const ends: (() => unknown)[] = [];

    beforeAll(async () => {
      server = await startPostgres(postgresPrograms!);
    });
    beforeEach(async () => {
      const url = await server.createDatabase();
      elsewhere = await openDatabase({ url });
      way = new FreezingProxy(url);
      place = await way.listen();
    });
    afterEach(async () => {
      for (const end of ends.splice(0).reverse()) await end();
      way.close();
      await elsewhere.close();
    });
    afterAll(() => server.destroy());

    async function open(options: Partial<OpenOptions> = {}): Promise<Store> {
      const store = await openDatabase({ url: place, hangsAfterMs: 400, ...options });
      ends.push(() => {
        way.close();
        return store.close();
      });
      return store;
    }

    async function follow(options: Partial<KeyFeedOptions> = {}) {
      const store = await open();
      const directory = new KeyAuthenticator({ peppers: testPeppers.secrets });
      const states: string[] = [];
      const onStore = (state: string) => void states.push(state);
      const feed = new KeyFeed({ store, sink: directory, onStoreState: onStore, ...options });
      await feed.start();
      ends.push(() => feed.stop());
      await Promise.all(Array.from({ length: 8 }, () => sql`select pg_sleep(0.05)`.execute(store.db)));
      return { directory, feed, states };
    }

    async function msUntil(holds: () => boolean): Promise<number> {
      const begun = performance.now();
      await vi.waitFor(() => expect(holds()).toBe(true), { timeout: 10 * BOUND_MS, interval: 5 });
      return performance.now() - begun;
    }

    it('delay neither revocations nor new keys, and the store stays reachable', async () => {
      const register = await registerOn(elsewhere);
      const known = await createKey(register, { product: 'rpc', name: 'known' });
      const { directory, states } = await follow();
      const takes = (secret: string) => {
        try {
          return directory.authenticate(secret, register.now()) !== undefined;
        } catch {
          return false;
        }
      };
      expect(takes(known.secret)).toBe(true);
      expect(way.silence()).toBeGreaterThan(8);
      await revokeKey(register, known.key.id);
      expect(await msUntil(() => !takes(known.secret))).toBeLessThan(BOUND_MS);
      const made = await createKey(register, { product: 'rpc', name: 'new' });
      expect(await msUntil(() => takes(made.secret))).toBeLessThan(1_000);
      expect(states).toEqual(['available']);
    });

    it('are replaced while changes are read in pages, which are read again', async () => {
      const register = await registerOn(elsewhere);
      const made = [];
      for (const name of ['one', 'two', 'three'])
        made.push(await createKey(register, { product: 'rpc', name }));
      const { directory, feed, states } = await follow({ pageRows: 1 });
      const apply = vi.spyOn(directory, 'apply').mockImplementationOnce((records) => {
        way.silence();
        return directory.apply(records);
      });
      for (const { key } of made) await revokeKey(register, key.id);
      void feed.refresh();
      expect(await msUntil(() => directory.size === 0)).toBeLessThan(BOUND_MS);
      expect(apply.mock.calls.length).toBeGreaterThan(3);
      expect(states).toEqual(['available']);
    });

    it('are used for at most one more query', async () => {
      const store = await open({ connectionsMax: 2, queryTimeoutMs: 100 });
      const invoke = () => store.db.selectFrom('change_counter').select('version').executeTakeFirstOrThrow();
      await Promise.all([invoke(), invoke()]);
      way.silence();
      const requested = await Promise.allSettled([invoke(), invoke()]);
      expect(requested.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect(await Promise.all([invoke(), invoke(), invoke()])).toHaveLength(3);
    });
  },
);
