import { type Kysely, sql } from 'kysely';

/** Executes statements in SQL that both dialects understand, separated by semicolons. */
export async function executeSql(db: Kysely<unknown>, statements: string): Promise<void> {
  for (const statement of statements.split(';')) {
    if (statement.trim() !== '') await sql.raw(statement).execute(db);
  }
}
