import { type Kysely, sql, type Transaction } from 'kysely';
import { type Migration, migrations } from './migrations.ts';
import type { Schema } from './schema.ts';

/** Any number will do that no other program takes on the same server: "solway" in ASCII. */
const ADVISORY_LOCK = 0x736f6c776179;

/** The database was written by a newer program. Going on could damage it. */
export class SchemaTooNewError extends Error {
  constructor(found: number, latest: number) {
    super(
      `the database has schema ${found}, this program knows schemas up to ${latest}: ` +
        'a newer Solway has written it. Start that version again, or restore the copy made before the update',
    );
    this.name = 'SchemaTooNewError';
  }
}

type Target = Readonly<{ dialect: 'sqlite' | 'postgres'; db: Kysely<Schema> }>;

/** Two programs that start at once migrate one after the other; SQLite transactions exclude each other anyway. */
async function lock(dialect: Target['dialect'], trx: Transaction<Schema>): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCK)})`.execute(trx);
}

async function currentSchema(trx: Transaction<Schema>): Promise<number> {
  await trx.schema
    .createTable('schema_migration')
    .ifNotExists()
    .addColumn('number', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'bigint', (column) => column.notNull())
    .execute();
  const row = await trx
    .selectFrom('schema_migration')
    .select((select) => select.fn.max('number').as('number'))
    .executeTakeFirst();
  return row?.number ?? 0;
}

/**
 * Brings the schema forward, all steps in one transaction: after a failure the database is as it was.
 * @returns the numbers of the schema before, 0 for none, and after.
 * @throws SchemaTooNewError
 */
export async function migrate(
  target: Target,
  steps: readonly Migration[] = migrations,
): Promise<Readonly<{ from: number; to: number }>> {
  return target.db.transaction().execute(async (trx) => {
    await lock(target.dialect, trx);
    const current = await currentSchema(trx);
    const latest = steps.at(-1)?.number ?? 0;
    if (current > latest) throw new SchemaTooNewError(current, latest);
    for (const step of steps.filter(({ number }) => number > current)) {
      await step.up(trx as unknown as Kysely<unknown>);
      await trx
        .insertInto('schema_migration')
        .values({ number: step.number, name: step.name, applied_at: Date.now() })
        .execute();
    }
    return { from: current, to: latest };
  });
}
