import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { isStoreUnavailable } from '../../src/control/database/store-unavailable.ts';
import { revokeKey } from '../../src/control/keys/change-key.ts';
import { createKey } from '../../src/control/keys/create-key.ts';
import { KeyFeed } from '../../src/control/keys/key-feed.ts';
import { SemiWalletStore } from '../../src/control/semi-wallets/semi-wallet-store.ts';
import { KeyAuthenticator } from '../../src/gateway/auth/key-authenticator.ts';
import { firstOperator, openAccountsFixture } from './accounts/accounts-fixture.ts';
import { FreezingProxy } from './freezing-proxy.ts';
import { postgresPrograms, sharedPostgres } from './postgres-server.ts';
import { registerOn, testPeppers } from './register.ts';

describe.skipIf(postgresPrograms === null)(
  'a PostgreSQL server that does not answer (skipped where it is not installed)',
  () => {
    let proxy: FreezingProxy;
    let store: Store;
    const query = () => store.db.selectFrom('change_counter').select('version').executeTakeFirstOrThrow();

    beforeAll(async () => {
      proxy = new FreezingProxy(await (await sharedPostgres()).createDatabase());
      const proxyUrl = await proxy.listen();
      // Effectively disables the other timeouts.
      const never = { connectTimeoutMs: 3_600_000, queryTimeoutMs: 3_600_000 };
      store = await openDatabase({ url: proxyUrl, ...never, hangsAfterMs: 500, connectionsMax: 2 });
    });
    afterAll(async () => {
      proxy.frozen = false;
      await store.close();
      proxy.close();
    });

    it('is waited for while it answers other queries', async () => {
      const { rows } = await sql<{ done: string }>`select pg_sleep(1.2), 'yes' as done`.execute(store.db);
      expect(rows[0]?.done).toBe('yes');
    });

    it('counts as unreachable for queries and transactions until it answers again', async () => {
      const wallets = await SemiWalletStore.open({ store, peppers: testPeppers, limits: { iterations: 1 } });
      const changing = Promise.withResolvers<void>();
      const frozen = Promise.withResolvers<void>();
      const change = store.db.transaction().execute(async (trx) => {
        changing.resolve();
        await frozen.promise;
        await trx.updateTable('change_counter').set({ version: 7 }).execute();
      });
      await changing.promise;
      proxy.frozen = true;
      frozen.resolve();
      // More queries than the pool has connections.
      const requested = await Promise.allSettled([change, query(), query(), query()]);
      expect(requested.map((one) => one.status === 'rejected' && isStoreUnavailable(one.reason))).toEqual(
        Array(4).fill(true),
      );
      await expect(wallets.create('anna', 'secret')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
      proxy.frozen = false;
      expect(await query()).toEqual({ version: 0 });
    });

    it('does not delay revocations when a firewall silently drops connections to it', async () => {
      const url = await (await sharedPostgres()).createDatabase();
      const elsewhere = await openDatabase({ url });
      const cut = new FreezingProxy(url);
      const near = await openDatabase({ url: await cut.listen(), hangsAfterMs: 400 });
      const register = await registerOn(elsewhere);
      const { key } = await createKey(register, { product: 'rpc', name: 'x' });
      const directory = new KeyAuthenticator({ peppers: testPeppers.secrets });
      const states: string[] = [];
      const onStoreState = (state: string) => void states.push(state);
      const feed = new KeyFeed({ store: near, sink: directory, onStoreState });
      await feed.start();
      expect(directory.size).toBe(1);
      cut.silence();
      await revokeKey(register, key.id);
      const revokedAt = performance.now();
      await vi.waitFor(() => expect(directory.size).toBe(0), { timeout: 20_000, interval: 5 });
      expect(performance.now() - revokedAt).toBeLessThan(2_000);
      expect(states).toEqual(['available']);
      await feed.stop();
      cut.close();
      await Promise.all([near.close(), elsewhere.close()]);
    });

    it('makes the control API and sign-in return 503, and appears only in the log', async () => {
      const fixture = await openAccountsFixture(store);
      const operator = await firstOperator(fixture);
      using written = vi.spyOn(console, 'error');
      proxy.frozen = true;
      const answers = [await operator.get('/api/v1/customers'), await operator.signIn(fixture.email)];
      proxy.frozen = false;
      expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual([
        [503, 'STORE_AWAY'],
        [503, 'STORE_AWAY'],
      ]);
      expect(written).not.toHaveBeenCalled();
      expect((await operator.signIn(fixture.email)).status).toBe(200);
    });
  },
);
