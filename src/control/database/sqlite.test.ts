import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { Kysely, sql } from 'kysely';
import { expect, it } from 'vitest';
import { describeOnSqlite } from '../../../test/control/stores.ts';
import type { Schema } from './schema.ts';
import { openSqlite } from './sqlite.ts';
import { isPermanentError, isStoreUnavailable } from './store-unavailable.ts';

const runLongQuery = (db: Kysely<Schema>) =>
  sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000000)
    select count(*) as count from n`.execute(db);

describeOnSqlite('a SQLite database', ({ open }) => {
  it('does not block the event loop during a long query', async () => {
    const query = runLongQuery((await open()).db);
    expect(await Promise.race([query, setImmediate('the event loop')])).toBe('the event loop');
    expect((await query).rows).toEqual([{ count: 1_000_000 }]);
  });

  it('rolls back the transaction during which its thread ends, and opens the file again', async () => {
    const started = Promise.withResolvers<Worker>();
    process.once('worker', started.resolve);
    const { db } = await open();
    const thread = await started.promise;
    const transaction = db.transaction().execute(async (trx) => {
      await trx.updateTable('change_counter').set({ version: 1 }).execute();
      await Promise.all([runLongQuery(trx), thread.terminate()]);
    });
    await expect(transaction).rejects.toSatisfy(isStoreUnavailable);
    const counters = await db.selectFrom('change_counter').select('version').execute();
    expect(counters).toEqual([{ version: 0 }]);
  });

  it('is unavailable while its file cannot be opened', async () => {
    const db = new Kysely({ dialect: openSqlite({ file: '/nonexistent/solway.db', lockWaitMs: 100 }) });
    await expect(sql`select 1`.execute(db)).rejects.toSatisfy(isStoreUnavailable);
  });

  it('rejects a value that it cannot store with a permanent error', async () => {
    const query = sql`select ${true}`.execute((await open()).db);
    expect(await query.catch(isPermanentError)).toBe(true);
  });
});
