import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { type CleanedWhere, type CustomAdapter, createAdapterFactory } from 'better-auth/adapters';
import { type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import type { AuditEntry, RequestMetadata } from '../database/audit-entry.ts';
import { findRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import { nextVersion, transact, writeAudit } from '../database/transaction.ts';

/** Metadata of the current request, for the audit log: the sign-in library does not pass it to the store. */
export const currentRequest = new AsyncLocalStorage<RequestMetadata>();

type SignInWrite = Readonly<{
  table: string;
  operation: 'create' | 'update' | 'delete';
  /** Rows after the write; for deletions, the deleted rows. */
  rows: readonly Readonly<Record<string, unknown>>[];
  columns: readonly string[];
}>;

/** Returns the audit action of a write; null if the write is not audited. */
function actionOf({ table, operation, columns, rows }: SignInWrite): string | null {
  if (rows.length === 0) return null;
  if (table === 'auth_session') {
    const actions = { create: 'session.create', update: null, delete: 'session.delete' };
    return actions[operation];
  }
  if (table === 'auth_account') {
    if (operation === 'update') return columns.includes('password') ? 'user.password' : null;
    return operation === 'create' ? 'user.way-in' : 'user.way-in-delete';
  }
  if (table === 'auth_two_factor') {
    if (operation === 'update') return columns.includes('verified') ? 'user.two-factor-change' : null;
    return operation === 'create' ? 'user.two-factor-begin' : 'user.two-factor-end';
  }
  return table === 'auth_user' ? `user.${operation}` : null;
}

function userIdOf({ table, rows }: SignInWrite): string | null {
  const id = rows[0]?.[table === 'auth_user' ? 'id' : 'userId'];
  return typeof id === 'string' ? id : null;
}

function signInEntry(
  write: SignInWrite,
  action: string,
  email: string | null,
  at: number,
  metadata: RequestMetadata | undefined,
): AuditEntry {
  const isOwnRow = write.table === 'auth_user' && write.operation === 'update';
  const provider = write.rows[0]?.providerId;
  const detail = {
    ...(isOwnRow && { fields: write.columns.filter((name) => name !== 'updatedAt').join(',') }),
    ...(write.rows.length > 1 && { count: write.rows.length }),
    ...(typeof provider === 'string' && { provider }),
  };
  return { at, actor: email === null ? 'nobody' : `user:${email}`, action, detail, ...metadata };
}

/** Changes after which trusted browsers need the second factor again. */
const revokingActions: ReadonlySet<string | null> = new Set([
  ...['user.password', 'user.way-in', 'user.way-in-delete'],
  ...['user.two-factor-begin', 'user.two-factor-change', 'user.two-factor-end'],
]);

/**
 * Revokes a user's trusted browsers, pending two-factor sign-ins and password reset links. The library
 * would revoke only the current browser.
 */
export async function revokeTrustedBrowsers(db: Kysely<Schema>, userId: string): Promise<void> {
  await db.deleteFrom('auth_verification').where('value', '=', userId).execute();
}

type Row = Record<string, unknown>;
/** Untyped, because the library passes the table and column names of tables/accounts.ts at run time. */
type Tables = Record<string, Row>;
type Db = Kysely<Tables>;
type Builder = ExpressionBuilder<Tables, string>;

const SESSIONS = 'auth_session';
const DIGEST = 'sha256:';

/** Stored form of a session token. Leaves digests unchanged, because the session list identifies sessions by digest. */
export const tokenDigest = (token: string): string =>
  token.startsWith(DIGEST) ? token : DIGEST + createHash('sha256').update(token).digest('hex');

/** Replaces session tokens with digests in stored rows and conditions, and restores the tokens in results. */
function sealing(table: string) {
  const originals = new Map<string, unknown>();
  const sealed = (token: string): string => {
    const digest = tokenDigest(token);
    originals.set(digest, token);
    return digest;
  };
  return {
    row: (row: Row): Row =>
      table === SESSIONS && typeof row.token === 'string' ? { ...row, token: sealed(row.token) } : row,
    where: (where: readonly CleanedWhere[]): readonly CleanedWhere[] =>
      where.map((condition) => {
        const { field, value } = condition;
        if (table !== SESSIONS || field !== 'token') return condition;
        return {
          ...condition,
          value: Array.isArray(value) ? value.map((one) => sealed(String(one))) : sealed(String(value)),
        };
      }),
    unseal: (row: Row): Row =>
      typeof row.token === 'string' ? { ...row, token: originals.get(row.token) ?? row.token } : row,
  };
}

const operators = {
  eq: '=',
  ne: '!=',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
  in: 'in',
  not_in: 'not in',
} as const;

function conditionOf(eb: Builder, { field, operator, value }: CleanedWhere) {
  const sqlOperator = operators[operator as keyof typeof operators];
  if (sqlOperator === undefined)
    throw new Error(`the sign-in store does not support the operator ${operator}`);
  if (value === null) return eb(field, sqlOperator === '!=' ? 'is not' : 'is', null);
  if (Array.isArray(value) && value.length === 0) return sql<SqlBool>`1 = 0`;
  return eb(field, sqlOperator, value);
}

const matching = (where: readonly CleanedWhere[]) => (eb: Builder) => {
  const all = where.filter(({ connector }) => connector !== 'OR').map((one) => conditionOf(eb, one));
  const any = where.filter(({ connector }) => connector === 'OR').map((one) => conditionOf(eb, one));
  return eb.and(any.length === 0 ? all : [...all, eb.or(any)]);
};

/** Matches one row. Repeats the condition, so that concurrent statements cannot use the same row twice. */
const matchingOne = (table: string, where: readonly CleanedWhere[]) => (eb: Builder) => {
  const found = matching(where);
  return eb.and([eb('id', 'in', eb.selectFrom(table).select('id').where(found).limit(1)), found(eb)]);
};

/** Writes rows. If the write is audited, its audit entry is part of the same transaction. */
function writeRows(
  store: Store,
  now: () => number,
  given: Omit<SignInWrite, 'rows'>,
  work: (db: Db) => Promise<Row[]>,
): Promise<Row[]> {
  // Uses a dummy row to check whether this kind of write is audited at all.
  if (actionOf({ ...given, rows: [{}] }) === null) return work(store.db as unknown as Db);
  return transact(store, async (trx) => {
    const version = await nextVersion(trx);
    const write = { ...given, rows: await work(trx as unknown as Db) };
    const action = actionOf(write);
    const userId = userIdOf(write);
    if (userId !== null && revokingActions.has(action)) await revokeTrustedBrowsers(trx, userId);
    if (action !== null) {
      const user = await findRow(trx, 'auth_user', { id: userId ?? '' });
      const entry = signInEntry(write, action, user?.email ?? null, now(), currentRequest.getStore());
      await writeAudit(trx, version, entry);
    }
    return write.rows;
  });
}

function adapterOf(store: Store, now: () => number): CustomAdapter {
  const db = (): Db => store.db as unknown as Db;
  const update = async (table: string, where: CleanedWhere[], data: Row): Promise<Row[]> => {
    const seal = sealing(table);
    const found = matching(seal.where(where));
    const write = { table, operation: 'update', columns: Object.keys(data) } as const;
    const rows = await writeRows(store, now, write, (trx) =>
      trx.updateTable(table).set(seal.row(data)).where(found).returningAll().execute(),
    );
    return rows.map(seal.unseal);
  };
  const remove = async (table: string, where: CleanedWhere[]): Promise<number> => {
    const found = matching(sealing(table).where(where));
    const write = { table, operation: 'delete', columns: [] } as const;
    return (
      await writeRows(store, now, write, (trx) => trx.deleteFrom(table).where(found).returningAll().execute())
    ).length;
  };
  const findMany: CustomAdapter['findMany'] = async ({ model, where = [], limit, offset = 0, sortBy }) => {
    const seal = sealing(model);
    let query = db()
      .selectFrom(model)
      .selectAll()
      .where(matching(seal.where(where)))
      .limit(limit);
    if (sortBy !== undefined) query = query.orderBy(sortBy.field, sortBy.direction);
    if (offset > 0) query = query.offset(offset);
    return (await query.execute()).map(seal.unseal) as never[];
  };
  return {
    async create({ model: table, data }) {
      const seal = sealing(table);
      const [row] = await writeRows(store, now, { table, operation: 'create', columns: [] }, (trx) =>
        trx.insertInto(table).values(seal.row(data)).returningAll().execute(),
      );
      return seal.unseal(row as Row) as never;
    },
    findMany,
    findOne: async (given) => (await findMany<never>({ ...given, limit: 1 }))[0] ?? null,
    update: async ({ model, where, update: data }) =>
      ((await update(model, where, data as Row))[0] ?? null) as never,
    updateMany: async ({ model, where, update: data }) => (await update(model, where, data)).length,
    delete: async ({ model, where }) => void (await remove(model, where)),
    deleteMany: ({ model, where }) => remove(model, where),
    async consumeOne({ model, where }) {
      const seal = sealing(model);
      const found = matchingOne(model, seal.where(where));
      const [row] = await db().deleteFrom(model).where(found).returningAll().execute();
      return row === undefined ? null : (seal.unseal(row) as never);
    },
    async incrementOne({ model, where, increment, set = {} }) {
      const sums = Object.entries(increment).map(([column, delta]) => [
        column,
        sql`coalesce(${sql.ref(column)}, 0) + ${delta}`,
      ]);
      const values = { ...set, ...Object.fromEntries(sums) };
      const query = db().updateTable(model).set(values).where(matchingOne(model, where));
      return ((await query.returningAll().executeTakeFirst()) ?? null) as never;
    },
    async count({ model, where = [] }) {
      const count = db()
        .selectFrom(model)
        .select((eb) => eb.fn.countAll<number>().as('count'));
      return Number((await count.where(matching(where)).executeTakeFirstOrThrow()).count);
    },
  };
}

/** Stores times as ISO text, booleans as 0 or 1, and session tokens as digests. Audits changes transactionally. */
export const signInStore = (store: Store, now: () => number) =>
  createAdapterFactory({
    config: {
      adapterId: 'solway',
      supportsDates: false,
      supportsBooleans: false,
      supportsJSON: false,
      supportsNumericIds: false,
      transaction: false,
    },
    adapter: () => adapterOf(store, now),
  });
