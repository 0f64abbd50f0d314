import { timingSafeEqual } from 'node:crypto';
import type { Transaction } from 'kysely';
import { digestApiKey, findApiKeys, parseApiKey } from '../../gateway/auth/api-key.ts';
import type { Network } from '../../protocol/call.ts';
import { type Product, products } from '../../protocol/product.ts';
import { type ApiError, invalidFields, notFound } from '../api/api-error.ts';
import type { KeyJson, KeyOwnerJson } from '../api/contract/keys.ts';
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

/** Reads a key in a transaction that has locked the change counter. @throws ApiError 404 */
export async function requireKey(
  trx: Transaction<Schema>,
  id: string,
  { customerId }: Pick<KeyRegister, 'customerId'>,
): Promise<KeyTable> {
  const row = await selectRows(trx, 'api_key', { id, customer_id: customerId }).executeTakeFirst();
  if (row === undefined) throw noSuchKey();
  return row;
}

export function auditEntry(
  register: KeyRegister,
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

/** One more than the largest API page, to detect a next page. */
const LIST_LIMIT_MAX = 1_001;

type ListKeysOptions = Readonly<{
  product?: Product | undefined;
  withRevoked?: boolean;
  limit?: number;
  /** Id of the last key of the previous page. */
  after?: string | undefined;
}>;

export async function listKeys(register: KeyRegister, options: ListKeysOptions = {}): Promise<KeyView[]> {
  const match = { customer_id: register.customerId, product: options.product };
  let query = selectRows(register.store.db, 'api_key', match).orderBy('id');
  if (options.withRevoked !== true) query = query.where('state', '!=', 'revoked');
  if (options.after !== undefined) query = query.where('id', '>', options.after);
  const rows = await query.limit(Math.min(options.limit ?? LIST_LIMIT_MAX, LIST_LIMIT_MAX)).execute();
  return rows.map((row) => viewKey(row, register.now()));
}

/** Returns a key and its whole family, oldest key first. @throws ApiError 404 */
export async function readFamily(
  register: KeyRegister,
  id: string,
): Promise<Readonly<{ key: KeyView; family: KeyView[] }>> {
  const { db } = register.store;
  const rows = await selectRows(db, 'api_key', { customer_id: register.customerId })
    .where('family_id', '=', db.selectFrom('api_key').select('family_id').where('id', '=', id))
    .orderBy('created_at')
    .orderBy('id')
    .limit(LIST_LIMIT_MAX)
    .execute();
  const family = rows.map((row) => viewKey(row, register.now()));
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
