import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { type CleanedWhere, createAdapterFactory } from 'better-auth/adapters';
import { type ExpressionBuilder, type Kysely, type SqlBool, sql, type Transaction } from 'kysely';
import type { Store } from '../database/open.ts';
import { findRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import { type AuditEntry, nextVersion, transact, writeAudit } from '../database/transaction.ts';

export type RequestMetadata = Readonly<{
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
}>;

export const noRequestMetadata: RequestMetadata = { address: null, userAgent: null, requestId: null };

/** Metadata of the current request for writes of the sign-in library, which knows no audit log. */
export const currentRequest = new AsyncLocalStorage<RequestMetadata>();

type SignInWrite = Readonly<{
  table: string;
  operation: 'create' | 'update' | 'delete';
  /** Rows after the write; for deletions, the deleted rows. */
  rows: readonly Readonly<Record<string, unknown>>[];
  /** Columns set by an update. */
  columns: readonly string[];
}>;

/** Audit action of a write; null if it is not a user's change. */
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
  const columns = isOwnRow ? { fields: fieldsOf(write.columns) } : {};
  const provider = write.rows[0]?.providerId;
  const detail = {
    ...columns,
    ...(write.rows.length > 1 && { count: write.rows.length }),
    ...(typeof provider === 'string' && { provider }),
  };
  return { at, actor: email === null ? 'nobody' : `user:${email}`, action, detail, ...metadata };
}

const fieldsOf = (columns: readonly string[]): string =>
  columns.filter((name) => name !== 'updatedAt').join(',');

/** Changes after which browsers must pass the second factor again. */
const revokingActions: ReadonlySet<string | null> = new Set([
  ...['user.password', 'user.way-in', 'user.way-in-delete'],
  ...['user.two-factor-begin', 'user.two-factor-change', 'user.two-factor-end'],
]);

/**
 * Revokes the trusted browsers of a user, pending two-factor sign-ins and password reset links. The library
 * itself revokes only the current browser.
 */
export async function revokeTrustedBrowsers(db: Kysely<Schema>, userId: string): Promise<void> {
  await db.deleteFrom('auth_verification').where('value', '=', userId).execute();
}

async function revokeTrustedBrowsersAfter(db: Kysely<Schema>, write: SignInWrite): Promise<void> {
  const userId = userIdOf(write);
  if (userId !== null && revokingActions.has(actionOf(write))) await revokeTrustedBrowsers(db, userId);
}

type Row = Record<string, unknown>;
/** Table and column names are chosen at run time; they are those of tables/accounts.ts. */
type Tables = Record<string, Row>;
type Db = Kysely<Tables>;
type Builder = ExpressionBuilder<Tables, string>;

const SESSIONS = 'auth_session';
const DIGEST = 'sha256:';

/** Stored form of a session token. A digest is unchanged, because listed sessions are identified by it. */
export const tokenDigest = (token: string): string =>
  token.startsWith(DIGEST) ? token : DIGEST + createHash('sha256').update(token).digest('hex');

/** Stored form of rows and conditions with session tokens; results get the tokens of the current call back. */
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

/** One matching row, exactly once under concurrency. */
const one = (table: string, where: readonly CleanedWhere[]) => (eb: Builder) => {
  const found = matching(where);
  return eb.and([eb('id', 'in', eb.selectFrom(table).select('id').where(found).limit(1)), found(eb)]);
};

class SignInStore {
  readonly #store: Store;
  readonly #now: () => number;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  get #db(): Db {
    return this.#store.db as unknown as Db;
  }

  async #audit(trx: Transaction<Schema>, version: number, write: SignInWrite): Promise<void> {
    const action = actionOf(write);
    if (action === null) return;
    const user = await findRow(trx, 'auth_user', { id: userIdOf(write) ?? '' });
    const entry = signInEntry(write, action, user?.email ?? null, this.#now(), currentRequest.getStore());
    await writeAudit(trx, version, entry);
  }

  #write(given: Omit<SignInWrite, 'rows'>, work: (db: Db) => Promise<Row[]>): Promise<Row[]> {
    // Checks whether this kind of write is audited at all.
    if (actionOf({ ...given, rows: [{}] }) === null) return work(this.#db);
    return transact(this.#store, async (trx) => {
      const version = await nextVersion(trx);
      const rows = await work(trx as unknown as Db);
      await revokeTrustedBrowsersAfter(trx, { ...given, rows });
      await this.#audit(trx, version, { ...given, rows });
      return rows;
    });
  }

  async create({ model: table, data }: { model: string; data: Row }): Promise<Row> {
    const seal = sealing(table);
    const [row] = await this.#write({ table, operation: 'create', columns: [] }, (db) =>
      db.insertInto(table).values(seal.row(data)).returningAll().execute(),
    );
    return seal.unseal(row as Row);
  }

  async find({ model: table, where = [], limit, offset, sortBy }: Find): Promise<Row[]> {
    const seal = sealing(table);
    let query = this.#db
      .selectFrom(table)
      .selectAll()
      .where(matching(seal.where(where)));
    if (sortBy !== undefined) query = query.orderBy(sortBy.field, sortBy.direction);
    if (limit !== undefined) query = query.limit(limit);
    if (offset !== undefined && offset > 0) query = query.offset(offset);
    return (await query.execute()).map(seal.unseal);
  }

  async update({ model: table, where }: Where, data: Row): Promise<Row[]> {
    const seal = sealing(table);
    const found = matching(seal.where(where));
    const rows = await this.#write({ table, operation: 'update', columns: Object.keys(data) }, (db) =>
      db.updateTable(table).set(seal.row(data)).where(found).returningAll().execute(),
    );
    return rows.map(seal.unseal);
  }

  async remove({ model: table, where }: Where): Promise<Row[]> {
    const seal = sealing(table);
    const found = matching(seal.where(where));
    const rows = await this.#write({ table, operation: 'delete', columns: [] }, (db) =>
      db.deleteFrom(table).where(found).returningAll().execute(),
    );
    return rows.map(seal.unseal);
  }

  async consume({ model: table, where }: Where): Promise<Row | null> {
    const seal = sealing(table);
    const found = one(table, seal.where(where));
    const [row] = await this.#db.deleteFrom(table).where(found).returningAll().execute();
    return row === undefined ? null : seal.unseal(row);
  }

  async increment({ model: table, where, increment, set = {} }: Increment): Promise<Row | null> {
    const sums = Object.entries(increment).map(([column, delta]) => [
      column,
      sql`coalesce(${sql.ref(column)}, 0) + ${delta}`,
    ]);
    const [row] = await this.#db
      .updateTable(table)
      .set({ ...set, ...Object.fromEntries(sums) })
      .where(one(table, where))
      .returningAll()
      .execute();
    return row ?? null;
  }

  async count(table: string, where: readonly CleanedWhere[]): Promise<number> {
    const row = await this.#db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where(matching(where))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }
}

/**
 * Storage adapter: ISO times and 0/1 booleans on both dialects, session tokens as digests, and audit entries
 * in the same transaction.
 */
export function signInStore(store: Store, now: () => number) {
  const rows = new SignInStore(store, now);
  return createAdapterFactory({
    config: {
      adapterId: 'solway',
      supportsDates: false,
      supportsBooleans: false,
      supportsJSON: false,
      supportsNumericIds: false,
      transaction: false,
    },
    adapter: () => ({
      create: async <T extends Row>(given: { model: string; data: T }) => (await rows.create(given)) as T,
      findOne: async <T>(given: Where) => ((await rows.find({ ...given, limit: 1 }))[0] ?? null) as T | null,
      findMany: async <T>(given: Find) => (await rows.find(given)) as T[],
      update: async <T>({ update: data, ...given }: Where & { update: T }) =>
        ((await rows.update(given, data as Row))[0] ?? null) as T | null,
      updateMany: async ({ update: data, ...given }) => (await rows.update(given, data)).length,
      delete: async (given) => void (await rows.remove(given)),
      deleteMany: async (given) => (await rows.remove(given)).length,
      consumeOne: async <T>(given: Where) => (await rows.consume(given)) as T | null,
      incrementOne: async <T>(given: Increment) => (await rows.increment(given)) as T | null,
      count: ({ model, where = [] }) => rows.count(model, where),
    }),
  });
}

type Where = { model: string; where: CleanedWhere[] };

type Find = {
  model: string;
  where?: CleanedWhere[] | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
  sortBy?: { field: string; direction: 'asc' | 'desc' } | undefined;
};

type Increment = Where & {
  increment: Record<string, number>;
  set?: Record<string, unknown> | undefined;
};
