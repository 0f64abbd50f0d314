import SqliteDatabase from 'better-sqlite3';
import pg from 'pg';

/** A database that is filled directly, without the service. Rows of a call have the same columns. */
export interface Bulk {
  insert(table: string, rows: readonly object[]): Promise<void>;
  run(statement: string): Promise<void>;
  /** Drops the indexes of tables, which makes inserts faster. @returns a function that creates them again. */
  dropIndexes(tables: readonly string[]): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

const textList = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ');

/** @param file - of a database with all tables. */
export function bulkSqlite(file: string): Bulk {
  const database = new SqliteDatabase(file);
  // Kibibytes. Inserts into a large index would otherwise read and write the file all the time.
  for (const pragma of ['synchronous = off', 'cache_size = -2000000']) database.pragma(pragma);
  return {
    async insert(table, rows) {
      const names = Object.keys(rows[0] ?? {});
      if (names.length === 0) return;
      const values = names.map((name) => `@${name}`).join(', ');
      const statement = database.prepare(`insert into ${table} ("${names.join('", "')}") values (${values})`);
      database.transaction(() => {
        for (const row of rows) statement.run(row);
      })();
    },
    run: async (statement) => void database.exec(statement),
    async dropIndexes(tables) {
      const indexes = database
        .prepare(
          `select name, sql from sqlite_master where type = 'index' and sql is not null
            and tbl_name in (${textList(tables)})`,
        )
        .all() as { name: string; sql: string }[];
      for (const { name } of indexes) database.exec(`drop index ${name}`);
      return async () => {
        for (const { sql } of indexes) database.exec(sql);
      };
    },
    async close() {
      database.pragma('wal_checkpoint(truncate)');
      database.close();
    },
  };
}

/** @param url - of a database with all tables. */
export async function bulkPostgres(url: string): Promise<Bulk> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const run = async (statement: string) => void (await client.query(statement));
  await run(`set synchronous_commit = off`);
  await run(`set maintenance_work_mem = '1GB'`);
  return {
    async insert(table, rows) {
      const names = Object.keys(rows[0] ?? {})
        .map((name) => `"${name}"`)
        .join(', ');
      if (names === '') return;
      const statement = `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1)`;
      await client.query(statement, [JSON.stringify(rows)]);
    },
    run,
    async dropIndexes(tables) {
      const { rows } = await client.query<{ table: string; name: string; index: string; key: string | null }>(
        `select tablename as table, indexname as name, indexdef as index, pg_get_constraintdef(oid) as key
          from pg_indexes left join pg_constraint on conname = indexname
          where schemaname = 'public' and tablename in (${textList(tables)})`,
      );
      for (const { table, name, key } of rows)
        await run(key === null ? `drop index ${name}` : `alter table ${table} drop constraint ${name}`);
      return async () => {
        for (const { table, name, index, key } of rows)
          await run(key === null ? index : `alter table ${table} add constraint ${name} ${key}`);
      };
    },
    async close() {
      // Otherwise autovacuum would do it during the measurement.
      await run('vacuum analyze');
      await run('checkpoint');
      await client.end();
    },
  };
}
