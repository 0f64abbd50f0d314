import { type Kysely, PostgresAdapter, sql, type Transaction } from 'kysely';
import { OperatorError } from '../../base/operator-error.ts';
import { DEFAULT_CUSTOMER_ID } from '../accounts/roles.ts';
import { insertRow } from './rows.ts';
import type { Schema } from './schema.ts';
import { sumMethods } from './sum-methods.ts';
import { accountTables, usageLinkTable } from './tables/accounts.ts';
import { alertTables } from './tables/alerts.ts';
import { billingTables, stripeTotalTable } from './tables/billing.ts';
import { nodeHistoryTables } from './tables/node-history.ts';
import { nodeTables } from './tables/nodes.ts';
import { noticeTables } from './tables/notices.ts';
import { requestReasons, requestTables } from './tables/requests.ts';
import {
  usageDetailed,
  usageKeyIndexes,
  usageLabels,
  usageListIndexes,
  usageMethods,
  usageTables,
} from './tables/usage.ts';

/** Adds triggers that reject updates and deletions of rows, even by other programs. */
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
 * Closes two ways around `makeAppendOnly`: in SQLite, deletions by `insert or replace` fire no trigger; in PostgreSQL,
 * truncation fires no row trigger.
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

/** Makes writers and roll-ups wait: they lock marks before the tables of roll-ups, and must not change these now. */
async function lockMarks(db: Kysely<unknown>): Promise<void> {
  if (db.getExecutor().adapter instanceof PostgresAdapter)
    await sql`lock table usage_mark in share row exclusive mode`.execute(db);
}

/** Never edit a released migration. */
export type Migration = Readonly<{
  number: number;
  name: string;
  /**
   * SQL statements for both dialects, or a function. SQLite can add only one column per statement. A new column needs
   * a default or must allow null, because gateways that run an older version keep inserting rows.
   */
  up: string | ((db: Kysely<unknown>) => Promise<void>);
}>;

async function executeSql(db: Kysely<unknown>, statements: string): Promise<void> {
  for (const statement of statements.split(';')) {
    if (statement.trim() !== '') await sql.raw(statement).execute(db);
  }
}

const firstTables = `
  create table change_counter (id integer primary key, version bigint not null);
  insert into change_counter (id, version) values (1, 0);
  create table pepper (version integer primary key, proof text not null);
  create table plan (
    id text primary key, name text not null, rpc_per_second bigint not null, rpc_burst bigint not null,
    version bigint not null
  );
  create table api_key (
    id text primary key, family_id text not null, product text not null, name text not null,
    digest text not null unique, pepper_version integer not null, state text not null,
    plan_id text not null references plan (id), created_at bigint not null, expires_at bigint,
    replaced_by text, last_used_at bigint, version bigint not null unique
  );
  create index api_key_plan on api_key (plan_id);
  create table usage_minute (
    epoch text not null, key_id text not null, product text not null, method text not null,
    status text not null, minute bigint not null, requests bigint not null, bytes_in bigint not null,
    bytes_out bigint not null, credits bigint not null, latency text not null,
    constraint usage_minute_row primary key (minute, epoch, key_id, product, method, status)
  );
  create index usage_minute_by_key on usage_minute (key_id, minute);
  create table audit (
    id bigint primary key, at bigint not null, actor text not null, action text not null, key_id text,
    detail text not null
  )`;

const semiWalletTable = `
  create table semi_wallet (
    owner_id text not null, address text not null, pepper_version integer not null, wrapped text not null,
    created_at bigint not null, changed_at bigint not null,
    constraint semi_wallet_row primary key (owner_id, address)
  );
  create index semi_wallet_pepper on semi_wallet (pepper_version)`;

const keyRulesAndPrices = `
  alter table api_key add column customer_id text not null default '${DEFAULT_CUSTOMER_ID}';
  alter table api_key add column is_public bigint not null default 0;
  alter table api_key add column networks text not null default '';
  alter table api_key add column cidrs text not null default '';
  alter table api_key add column origins text not null default '';
  alter table api_key add column methods text not null default '';
  alter table api_key add column rate_per_second bigint;
  alter table api_key add column rate_burst bigint;
  alter table api_key add column address_per_second bigint;
  alter table api_key add column logs_bodies bigint not null default 0;
  alter table api_key add column last_used_from text;
  alter table api_key add column leaked_at bigint;
  create index api_key_customer on api_key (customer_id);
  create index api_key_family on api_key (family_id);
  alter table plan add column monthly_credits bigint not null default 0;
  alter table plan add column quota_is_hard bigint not null default 1;
  alter table plan add column stream_credits bigint not null default 0;
  alter table plan add column prices text not null default '{}';
  alter table audit add column customer_id text;
  alter table audit add column address text;
  alter table audit add column user_agent text;
  alter table audit add column request_id text;
  create index audit_customer on audit (customer_id, id)`;

/** Steps from an empty database to the schema in schema.ts. */
export const migrations: readonly Migration[] = [
  { number: 1, name: 'keys, plans, usage and audit', up: firstTables },
  {
    number: 2,
    name: 'limits of WebSocket connections, and their messages',
    up: `
      alter table plan add column ws_connections_max bigint not null default 100;
      alter table plan add column ws_subscriptions_max bigint not null default 1000;
      alter table plan add column ws_message_max_bytes bigint not null default 1048576;
      alter table usage_minute add column messages bigint not null default 0`,
  },
  {
    number: 3,
    name: 'limits of gRPC streams',
    up: `
      alter table plan add column grpc_streams_max bigint not null default 100;
      alter table plan add column grpc_filters_max bigint not null default 1000;
      alter table plan add column grpc_pubkeys_max bigint not null default 50000;
      alter table plan add column grpc_cuckoo_max_bytes bigint not null default 2097152`,
  },
  {
    number: 4,
    name: 'limit of block filters',
    up: 'alter table plan add column grpc_blocks_max bigint not null default 10',
  },
  { number: 5, name: 'semi-custodial wallets', up: semiWalletTable },
  { number: 6, name: 'customers, members and sign-in', up: accountTables },
  {
    number: 7,
    name: 'rules of keys, prices of plans',
    async up(db) {
      await executeSql(db, keyRulesAndPrices);
      await makeAppendOnly(db, 'audit');
    },
  },
  { number: 8, name: 'hours and days of usage', up: usageTables },
  { number: 9, name: 'requests, connections and gateways', up: requestTables },
  { number: 10, name: 'notices of quotas', up: noticeTables },
  {
    number: 11,
    name: 'nodes that are added while the service runs',
    up: `${nodeTables}; alter table node_cordon add column is_drain bigint not null default 0`,
  },
  {
    number: 12,
    name: 'what became of transactions',
    up: `
      alter table submission add column rebroadcasts bigint not null default 0;
      alter table submission add column fate text;
      alter table submission add column fate_slot text;
      alter table submission add column fate_err text`,
  },
  {
    number: 13,
    name: 'an audit log that nothing takes the place of',
    up: (db) => makeIrreplaceable(db, 'audit'),
  },
  { number: 14, name: 'where gateways answer', up: 'alter table gateway add column url text' },
  {
    number: 15,
    name: 'keys whose reads never go back',
    up: 'alter table api_key add column never_back bigint not null default 0',
  },
  {
    number: 16,
    name: 'what nodes said to rebroadcasts',
    up: 'alter table submission add column again text',
  },
  {
    number: 17,
    name: 'when a notice was tried last',
    up: 'alter table notice_target add column tested_at bigint not null default 0',
  },
  {
    number: 18,
    name: 'reasons of failed requests, and search in the request log',
    up: async (db) => {
      const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
      await executeSql(db, requestReasons.replace('{options}', isPostgres ? '' : 'without rowid'));
    },
  },
  {
    number: 19,
    name: 'problems of gateways, alerts, history of nodes',
    up: `alter table gateway add column problems text; ${alertTables}; ${nodeHistoryTables}`,
  },
  {
    number: 20,
    name: 'indexes of long lists',
    up: `
      create index api_key_name on api_key (customer_id, lower(name), id);
      create index api_key_created on api_key (customer_id, created_at, id);
      create index customer_name on customer (lower(name), id);
      create index audit_action on audit (action, id);
      create index audit_customer_action on audit (customer_id, action, id);
      create index audit_actor on audit (actor, id);
      create index audit_key on audit (key_id, id);
      create index request_log_failed_method on request_log (customer_id, method, status, id)
        where status <> 'ok'`,
  },
  { number: 21, name: 'networks and error codes of usage', up: usageLabels },
  {
    number: 22,
    name: 'prices, archive and undo of plans; billing statements; Stripe',
    async up(db) {
      await executeSql(db, billingTables);
      await makeAppendOnly(db, 'billing_statement');
    },
  },
  { number: 23, name: 'links to usage', up: usageLinkTable },
  {
    number: 24,
    name: 'prevent replacement of statements and their keys',
    async up(db) {
      await makeAppendOnly(db, 'statement_key');
      for (const table of ['billing_statement', 'statement_key']) await makeIrreplaceable(db, table);
    },
  },
  { number: 25, name: 'runs with usage details in ClickHouse', up: usageDetailed },
  { number: 26, name: 'comparison with the totals of Stripe', up: stripeTotalTable },
  {
    number: 27,
    name: 'indexes of lists of usage',
    async up(db) {
      await lockMarks(db);
      await executeSql(db, usageListIndexes);
    },
  },
  {
    number: 28,
    name: 'networks and codes of customers, and keys in order',
    async up(db) {
      await lockMarks(db);
      await executeSql(db, usageMethods);
      await sumMethods(db as Kysely<Schema>);
      await executeSql(db, usageKeyIndexes);
    },
  },
];

/** Arbitrary, but must be unique on the server: "solway" in ASCII. */
const ADVISORY_LOCK = 0x736f6c776179;

export class SchemaTooNewError extends OperatorError {
  constructor(found: number, latest: number) {
    super(
      `the database has schema ${found}, but this version supports at most schema ${latest}: ` +
        'it was written by a newer Solway. Start that version again, or restore the backup made before the update',
    );
    this.name = 'SchemaTooNewError';
  }
}

type Target = Readonly<{ dialect: 'sqlite' | 'postgres'; db: Kysely<Schema> }>;

/** Serializes concurrent migrations. SQLite needs no lock, because transactions start with the write lock. */
async function lock(dialect: Target['dialect'], trx: Transaction<Schema>): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCK)})`.execute(trx);
}

async function currentSchema(trx: Transaction<Schema>): Promise<number> {
  await sql`create table if not exists schema_migration
    (number integer primary key, name text not null, applied_at bigint not null)`.execute(trx);
  const row = await trx
    .selectFrom('schema_migration')
    .select((select) => select.fn.max('number').as('number'))
    .executeTakeFirst();
  return row?.number ?? 0;
}

/** Runs all pending steps in one transaction. Returns the previous schema number; 0 for an empty database. */
export async function migrate(target: Target, steps: readonly Migration[] = migrations): Promise<number> {
  return target.db.transaction().execute(async (trx) => {
    await lock(target.dialect, trx);
    const current = await currentSchema(trx);
    const latest = steps.at(-1)?.number ?? 0;
    if (current > latest) throw new SchemaTooNewError(current, latest);
    for (const step of steps.filter(({ number }) => number > current)) {
      const db = trx as unknown as Kysely<unknown>;
      await (typeof step.up === 'string' ? executeSql(db, step.up) : step.up(db));
      const { number, name } = step;
      await insertRow(trx, 'schema_migration', { number, name, applied_at: Date.now() });
    }
    return current;
  });
}
