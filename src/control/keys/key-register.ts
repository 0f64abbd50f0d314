import { timingSafeEqual } from 'node:crypto';
import type { Transaction } from 'kysely';
import { digestApiKey, findApiKeys, parseApiKey } from '../../gateway/auth/api-key.ts';
import type { Network } from '../../protocol/call.ts';
import { type Product, products } from '../../protocol/product.ts';
import type { Store } from '../database/open.ts';
import type { KeyTable, Schema } from '../database/schema.ts';
import type { AuditEntry } from '../database/transaction.ts';
import type { Peppers } from '../pepper.ts';

/** The state a person sees: the stored one, or `expired` when the time of a living key has passed. */
export type VisibleKeyStatus = KeyTable['state'] | 'expired';

/** A key as lists show it. Nothing in it helps to guess the secret. Times are Unix milliseconds. */
export type KeyView = {
  id: string;
  /** The start of the key as its owner sees it: prefix and id. */
  start: string;
  familyId: string;
  customerId: string;
  product: Product;
  name: string;
  state: VisibleKeyStatus;
  planId: string;
  createdAt: number;
  expiresAt: number | null;
  /** Id of the key that takes over from this one. */
  replacedBy: string | null;
  lastUsedAt: number | null;
  /** The address of the last use. */
  lastUsedFrom: string | null;
  isPublic: boolean;
  networks: Network[] | null;
  cidrs: string[] | null;
  origins: string[] | null;
  methods: string[] | null;
  rate: { perSecond: number; burst: number } | null;
  addressPerSecond: number | null;
  logsBodies: boolean;
  neverBack: boolean;
  /** When somebody reported it as leaked. */
  leakedAt: number | null;
};

function visibleState(row: KeyTable, now: number): VisibleKeyStatus {
  const living = row.state === 'active' || row.state === 'rotating';
  return living && row.expires_at !== null && row.expires_at <= now ? 'expired' : row.state;
}

const listOf = (joined: string): string[] | null => (joined === '' ? null : joined.split(','));

/** A key's own rate; one that was given whole has both numbers. */
function rateOf({ rate_per_second: perSecond, rate_burst: burst }: KeyTable): KeyView['rate'] {
  return perSecond === null ? null : { perSecond, burst: burst ?? perSecond };
}

/** The view of a row at time `now`. */
export function viewKey(row: KeyTable, now: number): KeyView {
  return {
    id: row.id,
    start: `${products[row.product].prefix}${row.id}`,
    familyId: row.family_id,
    customerId: row.customer_id,
    product: row.product,
    name: row.name,
    state: visibleState(row, now),
    planId: row.plan_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    replacedBy: row.replaced_by,
    lastUsedAt: row.last_used_at,
    lastUsedFrom: row.last_used_from,
    isPublic: row.is_public !== 0,
    networks: listOf(row.networks) as Network[] | null,
    cidrs: listOf(row.cidrs),
    origins: listOf(row.origins),
    methods: listOf(row.methods),
    rate: rateOf(row),
    addressPerSecond: row.address_per_second,
    logsBodies: row.logs_bodies !== 0,
    neverBack: row.never_back !== 0,
    leakedAt: row.leaked_at,
  };
}

/** Where a change came from, when it came over the network. */
type ChangeOrigin = Readonly<{
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
}>;

/** What every operation on keys needs. */
export type KeyRegister = Readonly<{
  store: Store;
  peppers: Peppers;
  /** Who acts, for the audit log: `cli:alice`, `user:anna@example.com`, `first start`. */
  actor: string;
  /** From where; absent for what is done on the machine itself. */
  origin?: ChangeOrigin;
  /** Only keys of this customer exist for the operations; absent: those of all. */
  customerId?: string;
  /** How many keys may exist that are not spent (spent-keys.ts). */
  keysMax: number;
  /** How many of them one customer may have; the house has no limit of its own. Default `keyLimits.customerKeysMax`. */
  customerKeysMax?: number;
  /** Unix milliseconds. */
  now: () => number;
}>;

/** What holds of keys when nothing else is said. */
export const keyLimits = {
  /** Keys of one customer that are not spent. */
  customerKeysMax: 10_000,
  /** Addresses, origins or methods that one key names. */
  cidrsMax: 100,
  originsMax: 100,
  methodsMax: 200,
  /** Calls a second from one address with a public key for which no number was given. */
  publicAddressPerSecond: 10,
} as const;

/** Why an operation on keys was refused; the text says what to do about it. */
export class KeyRefusedError extends Error {
  readonly reason: 'not-found' | 'wrong-state' | 'invalid' | 'limit';
  /** The field that is wrong, by its name in the control API. */
  readonly field: string | null;

  constructor(reason: KeyRefusedError['reason'], message: string, field: string | null = null) {
    super(message);
    this.name = 'KeyRefusedError';
    this.reason = reason;
    this.field = field;
  }
}

/** Refuses a field with what to write there. @throws KeyRefusedError invalid, always */
export function refuseField(field: string, message: string): never {
  throw new KeyRefusedError('invalid', message, field);
}

/**
 * The key's row, inside a transaction that holds the change counter. Keys of other customers than the register's are
 * as if they were not there.
 * @throws KeyRefusedError not-found
 */
export async function requireKey(
  trx: Transaction<Schema>,
  id: string,
  { customerId }: Pick<KeyRegister, 'customerId'>,
): Promise<KeyTable> {
  const row = await trx
    .selectFrom('api_key')
    .selectAll()
    .where('id', '=', id)
    .$if(customerId !== undefined, (query) => query.where('customer_id', '=', customerId!))
    .executeTakeFirst();
  if (row !== undefined) return row;
  throw new KeyRefusedError('not-found', 'there is no such key: see the list of keys for the ids');
}

/** The audit entry of something this register's actor does to a key. */
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

/** What changed of a row, as `before.name` and `after.name`; what stayed is left out. */
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

/** One more than a page of the control API: it tells whether there is another. */
const LIST_LIMIT_MAX = 1_001;

type ListKeysOptions = Readonly<{
  product?: Product | undefined;
  /** Revoked keys are left out unless asked for. */
  withRevoked?: boolean;
  /** 1 to 1001. */
  limit?: number;
  /** Id of the last key of the page before. */
  after?: string | undefined;
}>;

/** Keys in the order of their ids: those of the register's customer, or all. */
export async function listKeys(register: KeyRegister, options: ListKeysOptions = {}): Promise<KeyView[]> {
  let query = register.store.db.selectFrom('api_key').selectAll().orderBy('id');
  if (register.customerId !== undefined) query = query.where('customer_id', '=', register.customerId);
  if (options.product !== undefined) query = query.where('product', '=', options.product);
  if (options.withRevoked !== true) query = query.where('state', '!=', 'revoked');
  if (options.after !== undefined) query = query.where('id', '>', options.after);
  const rows = await query.limit(Math.min(options.limit ?? LIST_LIMIT_MAX, LIST_LIMIT_MAX)).execute();
  return rows.map((row) => viewKey(row, register.now()));
}

/** One key and all keys of its family, the oldest first. @throws KeyRefusedError not-found */
export async function readFamily(
  register: KeyRegister,
  id: string,
): Promise<Readonly<{ key: KeyView; family: KeyView[] }>> {
  const { db } = register.store;
  const rows = await db
    .selectFrom('api_key')
    .selectAll()
    .where('family_id', '=', db.selectFrom('api_key').select('family_id').where('id', '=', id))
    .$if(register.customerId !== undefined, (query) => query.where('customer_id', '=', register.customerId!))
    .orderBy('created_at')
    .orderBy('id')
    .limit(LIST_LIMIT_MAX)
    .execute();
  const family = rows.map((row) => viewKey(row, register.now()));
  const key = family.find((one) => one.id === id);
  if (key !== undefined) return { key, family };
  throw new KeyRefusedError('not-found', 'there is no such key: see the list of keys for the ids');
}

/** What a text turned out to hold. */
export type KeyOwnerResult = Readonly<{
  /** Whether something of the form of a key stands in it: pattern and checksum. */
  wellFormed: boolean;
  /** Whether that is a key here, its secret included. */
  matches: boolean;
  /** Which, and whose; null where it does not match. */
  key: KeyView | null;
}>;

/** The row of the key that a text is, whatever its state. The text is looked up by its public id and kept nowhere. */
export async function findByText(
  { store, peppers }: Pick<KeyRegister, 'store' | 'peppers'>,
  text: string,
): Promise<KeyTable | null> {
  const parsed = parseApiKey(text);
  if (typeof parsed === 'string') return null;
  const row = await store.db.selectFrom('api_key').selectAll().where('id', '=', parsed.id).executeTakeFirst();
  const pepper = row === undefined ? undefined : peppers.secrets.get(row.pepper_version);
  if (row === undefined || pepper === undefined) return null;
  return timingSafeEqual(digestApiKey(text, pepper), Buffer.from(row.digest, 'hex')) ? row : null;
}

/** Whether a key of this service stands in a text, and whose: of all customers; the first of several. */
export async function findKeyOwner(register: KeyRegister, text: string): Promise<KeyOwnerResult> {
  const found = findApiKeys(text);
  for (const key of found) {
    const row = await findByText(register, key);
    if (row !== null) return { wellFormed: true, matches: true, key: viewKey(row, register.now()) };
  }
  return { wellFormed: found.length > 0, matches: false, key: null };
}
