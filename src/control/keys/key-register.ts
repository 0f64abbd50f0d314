import { timingSafeEqual } from 'node:crypto';
import { type Kysely, type Selectable, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { MAX_TIME_MS } from '../../base/max-time.ts';
import { digestApiKey, findApiKeys, KEY_ID_LENGTH, parseApiKey } from '../../gateway/auth/api-key.ts';
import type { Network } from '../../protocol/call.ts';
import { type Product, products } from '../../protocol/product.ts';
import { type ApiError, invalidFields, notFound } from '../api/api-error.ts';
import type { KeyJson, KeyOwnerJson } from '../api/contract/keys.ts';
import { contains, type PageQuery, type SortKeys, selectPage } from '../api/cursor.ts';
import type { AuditEntry } from '../database/audit-entry.ts';
import { fieldsOf, findRow, selectRows } from '../database/rows.ts';
import type { KeyTable, Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { Peppers } from '../pepper.ts';

export type KeyView = KeyJson;

export const hasExpired = ({ expires_at }: KeyTable, now: number): boolean =>
  expires_at !== null && expires_at <= now;

function visibleState(row: KeyTable, now: number): KeyView['state'] {
  const isActive = row.state === 'active' || row.state === 'rotating';
  return isActive && hasExpired(row, now) ? 'expired' : row.state;
}

/** Splits a comma-separated list. Returns null for an empty text, which means unrestricted. */
export const listOf = (joined: string): string[] | null => (joined === '' ? null : joined.split(','));

function rateOf({ rate_per_second: perSecond, rate_burst: burst }: KeyTable): KeyView['rate'] {
  return perSecond === null ? null : { perSecond, burst: burst ?? perSecond };
}

export function viewKey(row: KeyTable, now: number): KeyView {
  return {
    ...fieldsOf(row, 'id', 'family_id', 'customer_id', 'product', 'name', 'plan_id', 'created_at'),
    ...fieldsOf(row, 'expires_at', 'replaced_by', 'last_used_at', 'last_used_from'),
    ...fieldsOf(row, 'address_per_second', 'leaked_at'),
    start: `${products[row.product].prefix}${row.id}`,
    state: visibleState(row, now),
    isPublic: row.is_public !== 0,
    networks: listOf(row.networks) as Network[] | null,
    cidrs: listOf(row.cidrs),
    origins: listOf(row.origins),
    methods: listOf(row.methods),
    rate: rateOf(row),
    logsBodies: row.logs_bodies !== 0,
    neverBack: row.never_back !== 0,
  };
}

export type KeyRegister = Readonly<{
  store: Store;
  peppers: Peppers;
  /** Actor in the audit log, e.g. `cli:alice`, `user:anna@example.com` or `first start`. */
  actor: string;
  /** Absent for changes made on the service's own machine. */
  origin?: Readonly<Pick<AuditEntry, 'address' | 'userAgent' | 'requestId'>>;
  /** Restricts operations to this customer's keys; absent: all customers. */
  customerId?: string;
  keysMax: number;
  /** Does not apply to the built-in customer. */
  customerKeysMax?: number;
  now: () => number;
}>;

export const keyLimits = {
  customerKeysMax: 10_000,
  /** Calls per second from one address, for public keys without an address rate of their own. */
  publicAddressPerSecond: 10,
} as const;

export function rejectField(field: string, message: string): never {
  throw invalidFields(message, { [field]: message });
}

/** Also thrown for keys of other customers. */
const noSuchKey = (): ApiError =>
  notFound('This customer has no such key. List the keys for their ids, or name another customer.');

/**
 * Reads a key of the customer. Before a change, call it in the transaction that locked the change counter.
 * @throws ApiError 404
 */
export async function requireKey(
  db: Kysely<Schema>,
  id: string,
  { customerId }: Pick<KeyRegister, 'customerId'>,
): Promise<KeyTable> {
  const row = await selectRows(db, 'api_key', { id, customer_id: customerId }).executeTakeFirst();
  if (row === undefined) throw noSuchKey();
  return row;
}

export function auditEntry(
  register: Pick<KeyRegister, 'actor' | 'origin' | 'now'>,
  action: string,
  key: Pick<KeyTable, 'id' | 'customer_id'>,
  detail: AuditEntry['detail'] = {},
): AuditEntry {
  return {
    at: register.now(),
    actor: register.actor,
    action,
    keyId: key.id,
    customerId: key.customer_id,
    ...register.origin,
    detail,
  };
}

type Detail = AuditEntry['detail'][string];

/** Returns only changed fields, as `before.<field>` and `after.<field>`. */
export function beforeAndAfter(
  before: Readonly<Record<string, Detail>>,
  after: Readonly<Record<string, Detail>>,
): AuditEntry['detail'] {
  const changed = Object.keys(after).filter((name) => before[name] !== after[name]);
  return Object.fromEntries(
    changed.flatMap((name) => [
      [`before.${name}`, before[name] ?? null],
      [`after.${name}`, after[name] ?? null],
    ]),
  );
}

const sortKeys = {
  name: { type: 'string', value: sql<string>`lower(name)` },
  createdAt: { type: 'number', value: sql<number>`created_at` },
  lastUsedAt: { type: 'number', value: sql<number>`coalesce(last_used_at, 0)` },
  expiresAt: { type: 'number', value: sql<number>`coalesce(expires_at, ${sql.lit(MAX_TIME_MS + 1)})` },
} as const satisfies SortKeys<string>;

type ListKeysOptions = Partial<PageQuery<keyof typeof sortKeys>> &
  Readonly<{
    product?: Product | undefined;
    state?: KeyView['state'] | undefined;
    search?: string | undefined;
    withRevoked?: boolean;
  }>;

type KeyQuery = SelectQueryBuilder<{ row: KeyTable }, 'row', Selectable<KeyTable>>;

function inState(query: KeyQuery, state: KeyView['state'], now: number): KeyQuery {
  const hasEnded = sql<SqlBool>`expires_at is not null and expires_at <= ${now}`;
  if (state === 'expired') return query.where('state', 'in', ['active', 'rotating']).where(hasEnded);
  const stored = query.where('state', '=', state);
  return state === 'active' || state === 'rotating' ? stored.where(sql<SqlBool>`not (${hasEnded})`) : stored;
}

/** Matches a part of the name, and the beginning of the id or of the key. */
function matching(query: KeyQuery, text: string): KeyQuery {
  const prefix = Object.values(products).find((one) => text.startsWith(one.prefix))?.prefix ?? '';
  const id = text.slice(prefix.length, prefix.length + KEY_ID_LENGTH);
  if (prefix !== '') return query.where(sql<SqlBool>`substr(id, 1, ${sql.lit(id.length)}) = ${id}`);
  return query.where(
    sql<SqlBool>`(${contains(sql.ref('name'), text)} or substr(id, 1, ${sql.lit(text.length)}) = ${text})`,
  );
}

const PAGE_KEYS = 1_000;

/** @throws ApiError 422 for an invalid cursor */
export async function listKeyPage(
  { store, customerId, now }: KeyRegister,
  { product, state, search = '', withRevoked = false, limit = PAGE_KEYS, ...page }: ListKeysOptions,
): Promise<{ keys: KeyView[]; next: string | null }> {
  let query: KeyQuery = selectRows(store.db, 'api_key', { customer_id: customerId, product });
  if (state !== undefined) query = inState(query, state, now());
  else if (!withRevoked) query = query.where('state', '!=', 'revoked');
  if (search.trim() !== '') query = matching(query, search.trim());
  const { rows, next } = await selectPage(query as never, { limit, ...page }, sortKeys);
  return { keys: (rows as Selectable<KeyTable>[]).map((row) => viewKey(row, now())), next };
}

export const listKeys = async (register: KeyRegister, options: ListKeysOptions = {}): Promise<KeyView[]> =>
  (await listKeyPage(register, options)).keys;

/** Returns a key and its whole family, oldest key first. @throws ApiError 404 */
export async function readFamily(
  register: KeyRegister,
  id: string,
): Promise<Readonly<{ key: KeyView; family: KeyView[] }>> {
  const { db } = register.store;
  const { customerId } = register;
  // By family alone: SQLite would read all keys of the customer.
  const rows = await selectRows(db, 'api_key', {})
    .where('family_id', '=', db.selectFrom('api_key').select('family_id').where('id', '=', id))
    .orderBy('created_at')
    .orderBy('id')
    .limit(PAGE_KEYS)
    .execute();
  const family = rows
    .filter((row) => customerId === undefined || row.customer_id === customerId)
    .map((row) => viewKey(row, register.now()));
  const key = family.find((one) => one.id === id);
  if (key === undefined) throw noSuchKey();
  return { key, family };
}

/** Finds a key in any state by its full text, which is not stored. */
export async function findByText(
  { store, peppers }: Pick<KeyRegister, 'store' | 'peppers'>,
  text: string,
): Promise<KeyTable | null> {
  const parsed = parseApiKey(text);
  if (typeof parsed === 'string') return null;
  const row = await findRow(store.db, 'api_key', { id: parsed.id });
  const pepper = row === undefined ? undefined : peppers.secrets.get(row.pepper_version);
  if (row === undefined || pepper === undefined) return null;
  return timingSafeEqual(digestApiKey(text, pepper), Buffer.from(row.digest, 'hex')) ? row : null;
}

/** Finds the first key in `text` that was issued by this service, to any customer. */
export async function findKeyOwner(register: KeyRegister, text: string): Promise<KeyOwnerJson> {
  const found = findApiKeys(text);
  for (const key of found) {
    const row = await findByText(register, key);
    if (row !== null) return { wellFormed: true, matches: true, key: viewKey(row, register.now()) };
  }
  return { wellFormed: found.length > 0, matches: false, key: null };
}
