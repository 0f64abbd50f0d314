import { type Kysely, PostgresAdapter, sql } from 'kysely';

/**
 * Lets nobody who holds a connection change or delete rows of a table, whatever program it is: rows are only added. The
 * one thing that both dialects say in words of their own.
 */
export async function makeAppendOnly(db: Kysely<unknown>, table: string): Promise<void> {
  const statements =
    db.getExecutor().adapter instanceof PostgresAdapter ? inPostgres(table) : inSqlite(table);
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const inSqlite = (table: string): string[] =>
  ['update', 'delete'].map(
    (change) =>
      `create trigger ${table}_no_${change} before ${change} on ${table} ` +
      `begin select raise(abort, '${table} is append-only'); end`,
  );

const inPostgres = (table: string): string[] => [
  `create or replace function ${table}_append_only() returns trigger language plpgsql as ` +
    `$$ begin raise exception '${table} is append-only'; end $$`,
  `create trigger ${table}_no_change before update or delete on ${table} ` +
    `for each row execute function ${table}_append_only()`,
];
