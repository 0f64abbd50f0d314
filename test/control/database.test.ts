import { type Kysely, sql } from 'kysely';
import { expect, it } from 'vitest';
import { schemaNumber } from '../../src/control/database/backup/backup.ts';
import {
  type Migration,
  migrate,
  migrations,
  SchemaTooNewError,
} from '../../src/control/database/migrations.ts';
import { openDatabase } from '../../src/control/database/open.ts';
import type { Schema } from '../../src/control/database/schema.ts';
import { usageSteps } from '../../src/control/database/tables/usage.ts';
import { describeOnBothStores } from './stores.ts';

const extraTable = (name: string): Migration => ({
  number: schemaNumber() + 1,
  name,
  up: async (db) => void (await db.schema.createTable(name).addColumn('id', 'integer').execute()),
});

/** For tables of an earlier schema. */
const insertInto = (db: Kysely<Schema>, table: string, row: object) =>
  db
    .insertInto(table as 'plan')
    .values(row as never)
    .execute();

describeOnBothStores('the database', ({ kind, fresh, migrated, open }) => {
  it('is migrated exactly once when several programs start together', async () => {
    const database = await fresh();
    const stores = await Promise.all(Array.from({ length: 6 }, () => open(database)));
    for (const store of stores) {
      expect(await store.db.selectFrom('change_counter').selectAll().execute()).toEqual([
        { id: 1, version: 0 },
      ]);
    }
  });

  it('keeps the rows of an older schema, and adds default limits', async () => {
    const database = await migrated();
    const store = await open(database);
    await dropAll(store.db);
    await migrate(store, migrations.slice(0, 1));
    await sql`insert into plan (id, name, rpc_per_second, rpc_burst, version)
      values ('gold', 'Gold', 10, 20, 1)`.execute(store.db);
    await sql`insert into usage_minute
      (epoch, key_id, product, method, status, minute, requests, bytes_in, bytes_out, credits, latency)
      values ('e', 'k', 'rpc', 'getSlot', 'ok', 1, 2, 3, 4, 5, '0:2')`.execute(store.db);
    await migrate(store);
    expect(await store.db.selectFrom('plan').selectAll().execute()).toEqual([
      {
        ...{ id: 'gold', name: 'Gold', rpc_per_second: 10, rpc_burst: 20, version: 1 },
        ...{ ws_connections_max: 100, ws_subscriptions_max: 1_000, ws_message_max_bytes: 1_048_576 },
        ...{ grpc_streams_max: 100, grpc_filters_max: 1_000, grpc_blocks_max: 10 },
        ...{ grpc_pubkeys_max: 50_000, grpc_cuckoo_max_bytes: 2_097_152 },
        ...{ monthly_credits: 0, quota_is_hard: 1, stream_credits: 0, prices: '{}', archived_at: null },
      },
    ]);
    const [usage] = await store.db.selectFrom('usage_minute').selectAll().execute();
    expect(usage).toMatchObject({
      key_id: 'k',
      requests: 2,
      bytes_out: 4,
      latency: '0:2',
      messages: 0,
      code: '',
    });
    expect(await store.db.selectFrom('usage_mark').select('kind').orderBy('kind').execute()).toEqual([
      { kind: 'hour' },
      { kind: 'minute' },
      { kind: 'total_hour' },
    ]);
    const steps = await store.db.selectFrom('schema_migration').select('number').orderBy('number').execute();
    expect(steps.map(({ number }) => number)).toEqual(migrations.map(({ number }) => number));
  });

  it('sums the networks and codes of customers from the usage of keys of an older schema', async () => {
    const store = await open(await migrated());
    await dropAll(store.db);
    await migrate(store, migrations.slice(0, 27));
    for (const step of usageSteps)
      for (const [nth, [key, network, latency, bucket = 5]] of (
        [
          ['AAAAAAAA', 'devnet', '3:1,9:2'],
          ['BBBBBBBB', 'devnet', ''],
          ['CCCCCCCC', 'devnet', '3:4'],
          ['CCCCCCCC', 'testnet', '7:8'],
          ['CCCCCCCC', 'testnet', '7:9', 6],
        ] as const
      ).entries())
        await insertInto(store.db, `usage_${step}`, {
          ...{
            [step]: bucket,
            customer_id: 'acme',
            key_id: key,
            product: 'rpc',
            method: 'getSlot',
            status: 'ok',
          },
          ...{
            network,
            code: '',
            requests: 10 ** nth,
            bytes_in: 1,
            bytes_out: 1,
            credits: 1,
            messages: 1,
            latency,
          },
          ...(step === 'minute' ? { epoch: nth === 0 ? 'one' : 'two', plan_id: '' } : { last_minute: 0 }),
        });
    for (const mark of [
      { kind: 'hour', bucket: 7, epoch: 'e', token: 1 },
      { kind: 'day', bucket: 8, epoch: 'e', token: 2 },
      { kind: 'total_hour', bucket: 7, epoch: '', token: 3 },
    ])
      await insertInto(store.db, 'usage_mark', mark);
    await migrate(store);
    const columns = ['step', 'bucket', 'network', 'requests', 'credits', 'latency'] as const;
    const rows = await store.db.selectFrom('usage_method').select(columns).orderBy('requests').execute();
    for (const step of usageSteps)
      expect(rows.filter((row) => row.step === step)).toEqual([
        { step, bucket: 5, network: 'devnet', requests: 111, credits: 3, latency: '3:5,9:2' },
        { step, bucket: 5, network: 'testnet', requests: 1_000, credits: 1, latency: '7:8' },
        { step, bucket: 6, network: 'testnet', requests: 10_000, credits: 1, latency: '7:9' },
      ]);
    const marks = store.db.selectFrom('usage_mark').select(['kind', 'bucket', 'token']).orderBy('kind');
    expect(await marks.execute()).toEqual([
      { kind: 'day', bucket: 8, token: 2 },
      { kind: 'hour', bucket: 7, token: 1 },
      { kind: 'total_day', bucket: 8, token: 0 },
      { kind: 'total_hour', bucket: 7, token: 0 },
    ]);
  });

  it.runIf(kind === 'postgres')('waits for a roll-up of an older version before it sums usage', async () => {
    const database = await migrated();
    const [store, older] = [await open(database), await open(database)];
    await dropAll(store.db);
    await migrate(store, migrations.slice(0, 27));
    for (const kind of ['minute', 'hour'])
      await insertInto(store.db, 'usage_mark', { kind, bucket: 0, epoch: 'e', token: 1 });
    const { migrating } = await older.db.transaction().execute(async (trx) => {
      await trx.updateTable('usage_mark').set({ token: 1 }).where('kind', '=', 'minute').execute();
      await trx.deleteFrom('usage_method').execute();
      const migrating = migrate(store);
      const waiting = sql`select 1 from pg_locks where not granted and
        database = (select oid from pg_database where datname = current_database())`;
      while ((await waiting.execute(older.db)).rows.length === 0);
      await insertInto(trx, 'usage_mark', { kind: 'total_hour', bucket: 0, epoch: '', token: 2 });
      return { migrating };
    });
    expect(await migrating).toBe(27);
    expect(await store.db.selectFrom('usage_mark').select('token').orderBy('token').execute()).toEqual([
      ...[{ token: 0 }, { token: 1 }, { token: 1 }],
    ]);
  });

  it('is rejected if a newer version has written it', async () => {
    const database = await migrated();
    const store = await open(database);
    await migrate(store, [...migrations, extraTable('later')]);
    expect((await sql`select * from later`.execute(store.db)).rows).toEqual([]);
    await expect(openDatabase(database)).rejects.toThrow(SchemaTooNewError);
    await expect(openDatabase(database)).rejects.toThrow(
      `the database has schema ${schemaNumber() + 1}, but this version supports at most schema ${schemaNumber()}`,
    );
  });

  it('is unchanged after a failed migration step', async () => {
    const store = await open();
    const good = extraTable('half');
    const bad: Migration = {
      number: good.number + 1,
      name: 'bad',
      up: async () => Promise.reject(new Error('no')),
    };
    await expect(migrate(store, [...migrations, good, bad])).rejects.toThrow('no');
    await expect(sql`select * from half`.execute(store.db)).rejects.toThrow(/half/);
    await migrate(store);
  });

  it.runIf(kind === 'sqlite')('reports a full disk instead of the failed rollback', async () => {
    const { db } = await open();
    await sql`pragma max_page_count = 200`.execute(db);
    const fill = db.transaction().execute(async (trx) => {
      for (let id = 1; ; id++) {
        const row = { id, at: 1, actor: 'a', action: 'b', key_id: null, detail: 'x'.repeat(4_000) };
        await trx.insertInto('audit').values(row).execute();
      }
    });
    await expect(fill).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    expect(await db.selectFrom('audit').selectAll().execute()).toEqual([]);
  });

  it('never runs two write transactions at once', async () => {
    const database = await migrated();
    const [first, second] = [await open(database), await open(database)];
    const order: string[] = [];
    const bump = (store: typeof first, name: string) =>
      store.db.transaction().execute(async (trx) => {
        await trx.updateTable('change_counter').set({ version: 1 }).execute();
        order.push(`${name} in`);
        for (let turn = 0; turn < 20; turn++) await sql`select 1`.execute(trx);
        order.push(`${name} out`);
      });
    await Promise.all([bump(first, 'a'), bump(second, 'b')]);
    expect([order[0]!.at(0), order[2]!.at(0)].sort()).toEqual(['a', 'b']);
    expect([order[0]!.at(0), order[2]!.at(0)]).toEqual([order[1]!.at(0), order[3]!.at(0)]);
  });
});

/** Drops all tables; repeats, because tables that others reference can only be dropped last. */
async function dropAll(db: Kysely<Schema>): Promise<void> {
  for (let left = await tablesOf(db); left.length > 0; left = await tablesOf(db)) {
    for (const table of left)
      await db.schema
        .dropTable(table)
        .execute()
        .catch(() => undefined);
  }
}

const tablesOf = async (db: Kysely<Schema>): Promise<string[]> =>
  (await db.introspection.getTables()).map(({ name }) => name);
