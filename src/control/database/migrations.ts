import { type Kysely, PostgresAdapter, sql, type Transaction } from 'kysely';
import type { Schema } from './schema.ts';
import { createAccounts } from './tables/accounts.ts';
import { createNodeTables } from './tables/nodes.ts';
import { createNoticeTables } from './tables/notices.ts';
import { createRequestTables } from './tables/requests.ts';
import { createUsageTables } from './tables/usage.ts';

/**
 * Adds triggers that reject updates and deletions of rows, whatever program connects. Dialect-specific SQL.
 */
async function makeAppendOnly(db: Kysely<unknown>, table: string): Promise<void> {
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
 * Closes two bypasses: `insert or replace`, whose deletions fire no SQLite trigger, and truncation, which
 * fires no PostgreSQL row trigger.
 */
async function makeIrreplaceable(db: Kysely<unknown>, table: string): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  const statement = isPostgres
    ? `create trigger ${table}_no_truncate before truncate on ${table} ` +
      `for each statement execute function ${table}_append_only()`
    : `create trigger ${table}_no_replace before insert on ${table} ` +
      `when exists (select 1 from ${table} where id = new.id) ` +
      `begin select raise(abort, '${table} is append-only'); end`;
  await sql.raw(statement).execute(db);
}

/** A schema step. Released steps are never edited. */
export type Migration = Readonly<{
  number: number;
  name: string;
  up(db: Kysely<unknown>): Promise<void>;
}>;

async function createCounterAndPepper(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('change_counter')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('version', 'bigint', (column) => column.notNull())
    .execute();
  await sql`insert into change_counter (id, version) values (1, 0)`.execute(db);
  await db.schema
    .createTable('pepper')
    .addColumn('version', 'integer', (column) => column.primaryKey())
    .addColumn('proof', 'text', (column) => column.notNull())
    .execute();
}

async function createPlanAndKey(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('plan')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('rpc_per_second', 'bigint', (column) => column.notNull())
    .addColumn('rpc_burst', 'bigint', (column) => column.notNull())
    .addColumn('version', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('api_key')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('family_id', 'text', (column) => column.notNull())
    .addColumn('product', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull().unique())
    .addColumn('pepper_version', 'integer', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('plan_id', 'text', (column) => column.notNull().references('plan.id'))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('replaced_by', 'text')
    .addColumn('last_used_at', 'bigint')
    .addColumn('version', 'bigint', (column) => column.notNull().unique())
    .execute();
  await db.schema.createIndex('api_key_plan').on('api_key').column('plan_id').execute();
}

async function createUsageAndAudit(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('usage_minute')
    .addColumn('epoch', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('product', 'text', (column) => column.notNull())
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('minute', 'bigint', (column) => column.notNull())
    .addColumn('requests', 'bigint', (column) => column.notNull())
    .addColumn('bytes_in', 'bigint', (column) => column.notNull())
    .addColumn('bytes_out', 'bigint', (column) => column.notNull())
    .addColumn('credits', 'bigint', (column) => column.notNull())
    .addColumn('latency', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('usage_minute_row', ['minute', 'epoch', 'key_id', 'product', 'method', 'status'])
    .execute();
  await db.schema
    .createIndex('usage_minute_by_key')
    .on('usage_minute')
    .columns(['key_id', 'minute'])
    .execute();
  await db.schema
    .createTable('audit')
    .addColumn('id', 'bigint', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text')
    .addColumn('detail', 'text', (column) => column.notNull())
    .execute();
}

async function createSemiWallet(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('semi_wallet')
    .addColumn('owner_id', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('pepper_version', 'integer', (column) => column.notNull())
    .addColumn('wrapped', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('semi_wallet_row', ['owner_id', 'address'])
    .execute();
  await db.schema.createIndex('semi_wallet_pepper').on('semi_wallet').column('pepper_version').execute();
}

/** One column per statement, as SQLite requires. Existing rows and older programs get the default. */
async function addNumber(db: Kysely<unknown>, table: string, name: string, usual: number): Promise<void> {
  await db.schema
    .alterTable(table)
    .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(usual))
    .execute();
}

/** Like `addNumber`, for text. */
async function addText(
  db: Kysely<unknown>,
  table: string,
  name: string,
  usual: string | null,
): Promise<void> {
  await db.schema
    .alterTable(table)
    .addColumn(name, 'text', (column) => (usual === null ? column : column.notNull().defaultTo(usual)))
    .execute();
}

async function addNullableNumber(db: Kysely<unknown>, table: string, name: string): Promise<void> {
  await db.schema.alterTable(table).addColumn(name, 'bigint').execute();
}

/** Owner and rules of a key. Lists are joined by commas; empty: unrestricted. */
async function addKeyRules(db: Kysely<unknown>): Promise<void> {
  await addText(db, 'api_key', 'customer_id', 'house');
  await addNumber(db, 'api_key', 'is_public', 0);
  for (const list of ['networks', 'cidrs', 'origins', 'methods']) await addText(db, 'api_key', list, '');
  await addNullableNumber(db, 'api_key', 'rate_per_second');
  await addNullableNumber(db, 'api_key', 'rate_burst');
  await addNullableNumber(db, 'api_key', 'address_per_second');
  await addNumber(db, 'api_key', 'logs_bodies', 0);
  await addText(db, 'api_key', 'last_used_from', null);
  await addNullableNumber(db, 'api_key', 'leaked_at');
  await db.schema.createIndex('api_key_customer').on('api_key').column('customer_id').execute();
  await db.schema.createIndex('api_key_family').on('api_key').column('family_id').execute();
}

async function addPlanPrices(db: Kysely<unknown>): Promise<void> {
  await addNumber(db, 'plan', 'monthly_credits', 0);
  await addNumber(db, 'plan', 'quota_is_hard', 1);
  await addNumber(db, 'plan', 'stream_credits', 0);
  await addText(db, 'plan', 'prices', '{}');
}

/** Steps from an empty database to schema.ts, in SQL common to both dialects. */
export const migrations: readonly Migration[] = [
  {
    number: 1,
    name: 'keys, plans, usage and audit',
    async up(db) {
      await createCounterAndPepper(db);
      await createPlanAndKey(db);
      await createUsageAndAudit(db);
    },
  },
  {
    number: 2,
    name: 'limits of WebSocket connections, and their messages',
    async up(db) {
      await addNumber(db, 'plan', 'ws_connections_max', 100);
      await addNumber(db, 'plan', 'ws_subscriptions_max', 1_000);
      await addNumber(db, 'plan', 'ws_message_max_bytes', 1_048_576);
      await addNumber(db, 'usage_minute', 'messages', 0);
    },
  },
  {
    number: 3,
    name: 'limits of gRPC streams',
    async up(db) {
      await addNumber(db, 'plan', 'grpc_streams_max', 100);
      await addNumber(db, 'plan', 'grpc_filters_max', 1_000);
      await addNumber(db, 'plan', 'grpc_pubkeys_max', 50_000);
      await addNumber(db, 'plan', 'grpc_cuckoo_max_bytes', 2_097_152);
    },
  },
  {
    number: 4,
    name: 'limit of block filters',
    async up(db) {
      await addNumber(db, 'plan', 'grpc_blocks_max', 10);
    },
  },
  {
    number: 5,
    name: 'semi-custodial wallets',
    up: createSemiWallet,
  },
  {
    number: 6,
    name: 'customers, members and sign-in',
    up: createAccounts,
  },
  {
    number: 7,
    name: 'rules of keys, prices of plans',
    async up(db) {
      await addKeyRules(db);
      await addPlanPrices(db);
      await addText(db, 'audit', 'customer_id', null);
      await addText(db, 'audit', 'address', null);
      await addText(db, 'audit', 'user_agent', null);
      await addText(db, 'audit', 'request_id', null);
      await db.schema.createIndex('audit_customer').on('audit').columns(['customer_id', 'id']).execute();
      await makeAppendOnly(db, 'audit');
    },
  },
  {
    number: 8,
    name: 'hours and days of usage',
    up: createUsageTables,
  },
  {
    number: 9,
    name: 'requests, connections and gateways',
    up: createRequestTables,
  },
  {
    number: 10,
    name: 'notices of quotas',
    up: createNoticeTables,
  },
  {
    number: 11,
    name: 'nodes that are added while the service runs',
    async up(db) {
      await createNodeTables(db);
      await addNumber(db, 'node_cordon', 'is_drain', 0);
    },
  },
  {
    number: 12,
    name: 'what became of transactions',
    async up(db) {
      await addNumber(db, 'submission', 'rebroadcasts', 0);
      await addText(db, 'submission', 'fate', null);
      await addText(db, 'submission', 'fate_slot', null);
      await addText(db, 'submission', 'fate_err', null);
    },
  },
  {
    number: 13,
    name: 'an audit log that nothing takes the place of',
    up: (db) => makeIrreplaceable(db, 'audit'),
  },
  {
    number: 14,
    name: 'where gateways answer',
    up: (db) => addText(db, 'gateway', 'url', null),
  },
  {
    number: 15,
    name: 'keys whose reads never go back',
    up: (db) => addNumber(db, 'api_key', 'never_back', 0),
  },
  {
    number: 16,
    name: 'what nodes said to rebroadcasts',
    up: (db) => addText(db, 'submission', 'again', null),
  },
  {
    number: 17,
    name: 'when a notice was tried last',
    up: (db) => addNumber(db, 'notice_target', 'tested_at', 0),
  },
];

/** Arbitrary but unique on the server: "solway" in ASCII. */
const ADVISORY_LOCK = 0x736f6c776179;

/** The database was written by a newer version. */
export class SchemaTooNewError extends Error {
  constructor(found: number, latest: number) {
    super(
      `the database has schema ${found}, but this version supports at most schema ${latest}: ` +
        'it was written by a newer Solway. Start that version again, or restore the backup made before the update',
    );
    this.name = 'SchemaTooNewError';
  }
}

type Target = Readonly<{ dialect: 'sqlite' | 'postgres'; db: Kysely<Schema> }>;

/** Serializes concurrent migrations; SQLite transactions are exclusive anyway. */
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
 * Runs all pending steps in one transaction.
 * @returns schema numbers before (0: empty) and after.
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
