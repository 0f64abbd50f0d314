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

/**
 * Closes two ways around it: rows that take the place of others (`insert or replace`, whose deletions SQLite tells no
 * trigger of), and emptying the whole table, of which PostgreSQL tells triggers of rows nothing.
 */
export async function makeIrreplaceable(db: Kysely<unknown>, table: string): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  const statement = isPostgres
    ? `create trigger ${table}_no_truncate before truncate on ${table} ` +
      `for each statement execute function ${table}_append_only()`
    : `create trigger ${table}_no_replace before insert on ${table} ` +
      `when exists (select 1 from ${table} where id = new.id) ` +
      `begin select raise(abort, '${table} is append-only'); end`;
  await sql.raw(statement).execute(db);
}
