import type { Kysely, Transaction } from 'kysely';
import { digestApiKey, generateApiKey } from '../../access/api-key.ts';
import type { Product } from '../../protocol/product.ts';
import { HOUSE_CUSTOMER_ID } from '../accounts/roles.ts';
import { inChange, nextVersion, writeAudit } from '../database/change.ts';
import type { KeyTable, Schema } from '../database/schema.ts';
import { DEFAULT_PLAN_ID } from '../plans.ts';
import { auditEntry, KeyRefusedError, type KeyRegister, requireKey } from './key-register.ts';
import { type KeyView, viewKey } from './key-view.ts';
import { notSpent } from './spent-keys.ts';

/** Longest overlap of a rotation, in milliseconds. */
export const OVERLAP_MAX_MS = 90 * 24 * 3_600_000;
/** The overlap that is taken when none is given, in milliseconds. */
export const OVERLAP_DEFAULT_MS = 24 * 3_600_000;

const NAME_LENGTH_MAX = 64;
const ID_ATTEMPTS = 4;
const LIST_LIMIT_MAX = 1_000;

/** A new key with its secret: the one time that the secret is anywhere. */
export type NewKey = Readonly<{ secret: string; key: KeyView }>;

export type CreateKeyOptions = Readonly<{
  product: Product;
  /** 1 to 64 characters, none of them a control character. */
  name: string;
  planId?: string | undefined;
  /** Unix milliseconds; null or absent = never. */
  expiresAt?: number | null | undefined;
}>;

/** @throws KeyRefusedError invalid */
function checkName(name: string): string {
  const trimmed = name.trim();
  const length = [...trimmed].length;
  if (length >= 1 && length <= NAME_LENGTH_MAX && !/\p{C}/u.test(trimmed)) return trimmed;
  throw new KeyRefusedError('invalid', `a key's name is 1 to ${NAME_LENGTH_MAX} printable characters`);
}

/** @throws KeyRefusedError invalid */
function checkExpiry(expiresAt: number | null, now: number): number | null {
  if (expiresAt === null || (Number.isSafeInteger(expiresAt) && expiresAt > now)) return expiresAt;
  throw new KeyRefusedError('invalid', 'the time of expiry has passed: give one that lies ahead');
}

/** @throws KeyRefusedError invalid */
async function checkPlan(trx: Transaction<Schema>, planId: string): Promise<void> {
  const plans = await trx.selectFrom('plan').select('id').orderBy('id').execute();
  if (plans.some(({ id }) => id === planId)) return;
  const known = plans.map(({ id }) => id).join(', ');
  throw new KeyRefusedError('invalid', `there is no plan "${planId}": use one of ${known}, or configure it`);
}

/** How many keys there are that are not spent (spent-keys.ts). @param now - Unix milliseconds. */
export async function countKeys(db: Kysely<Schema>, now: number): Promise<number> {
  const { count } = await db
    .selectFrom('api_key')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where(notSpent(now))
    .executeTakeFirstOrThrow();
  return count;
}

/** @throws KeyRefusedError limit */
async function checkRoom(
  trx: Transaction<Schema>,
  { keysMax, now }: Pick<KeyRegister, 'keysMax' | 'now'>,
): Promise<void> {
  const count = await countKeys(trx, now());
  if (count < keysMax) return;
  throw new KeyRefusedError(
    'limit',
    `there are ${count} keys and no more are allowed: revoke some or raise keys.keys_max`,
  );
}

type GeneratedKey = ReturnType<typeof generateApiKey>;

/** A key whose id nobody has. The counter is held, so nobody can take the id in between. */
async function generateUnused(trx: Transaction<Schema>, product: Product): Promise<GeneratedKey> {
  for (let attempt = 0; attempt < ID_ATTEMPTS; attempt++) {
    const generated = generateApiKey(product);
    const taken = await trx
      .selectFrom('api_key')
      .select('id')
      .where('id', '=', generated.id)
      .executeTakeFirst();
    if (taken === undefined) return generated;
  }
  throw new Error('no unused key id was found');
}

/** What the keys of a family have in common, and when this one ends. */
type NewRow = Pick<
  KeyTable,
  | 'product'
  | 'name'
  | 'plan_id'
  | 'expires_at'
  | 'customer_id'
  | 'is_public'
  | 'networks'
  | 'cidrs'
  | 'origins'
  | 'methods'
  | 'rate_per_second'
  | 'rate_burst'
  | 'address_per_second'
  | 'logs_bodies'
> & { family_id: string | null };

/** A key of the house under no rules of its own. */
const noRules = {
  customer_id: HOUSE_CUSTOMER_ID,
  is_public: 0,
  networks: '',
  cidrs: '',
  origins: '',
  methods: '',
  rate_per_second: null,
  rate_burst: null,
  address_per_second: null,
  logs_bodies: 0,
} as const;

async function insertKey(
  register: KeyRegister,
  trx: Transaction<Schema>,
  version: number,
  given: NewRow,
): Promise<NewKey> {
  const { id, text } = await generateUnused(trx, given.product);
  const { current, secrets } = register.peppers;
  const row: KeyTable = {
    ...given,
    id,
    family_id: given.family_id ?? id,
    digest: digestApiKey(text, secrets.get(current)!).toString('hex'),
    pepper_version: current,
    state: 'active',
    created_at: register.now(),
    replaced_by: null,
    last_used_at: null,
    last_used_from: null,
    leaked_at: null,
    version,
  };
  await trx.insertInto('api_key').values(row).execute();
  return { secret: text, key: viewKey(row, register.now()) };
}

/**
 * Makes a key inside a transaction that is already under way.
 * @throws KeyRefusedError
 */
export async function createKeyIn(
  register: KeyRegister,
  trx: Transaction<Schema>,
  options: CreateKeyOptions,
): Promise<NewKey> {
  const version = await nextVersion(trx);
  const planId = options.planId ?? DEFAULT_PLAN_ID;
  const expiresAt = checkExpiry(options.expiresAt ?? null, register.now());
  const name = checkName(options.name);
  await checkPlan(trx, planId);
  await checkRoom(trx, register);
  const given = {
    ...noRules,
    product: options.product,
    name,
    plan_id: planId,
    expires_at: expiresAt,
    family_id: null,
  };
  const created = await insertKey(register, trx, version, given);
  const detail = { product: options.product, name, plan: planId, expiresAt };
  await writeAudit(trx, version, auditEntry(register, 'key.create', created.key.id, detail));
  return created;
}

/** Makes a key of a new family. @throws KeyRefusedError */
export function createKey(register: KeyRegister, options: CreateKeyOptions): Promise<NewKey> {
  return inChange(register.store, (trx) => createKeyIn(register, trx, options));
}

export type ListKeysOptions = Readonly<{
  product?: Product | undefined;
  /** Revoked keys are left out unless asked for. */
  withRevoked?: boolean;
  /** 1 to 1000. */
  limit?: number;
  /** Id of the last key of the page before. */
  after?: string;
}>;

/** Keys in the order of their ids. */
export async function listKeys(register: KeyRegister, options: ListKeysOptions = {}): Promise<KeyView[]> {
  let query = register.store.db.selectFrom('api_key').selectAll().orderBy('id');
  if (options.product !== undefined) query = query.where('product', '=', options.product);
  if (options.withRevoked !== true) query = query.where('state', '!=', 'revoked');
  if (options.after !== undefined) query = query.where('id', '>', options.after);
  const rows = await query.limit(Math.min(options.limit ?? LIST_LIMIT_MAX, LIST_LIMIT_MAX)).execute();
  return rows.map((row) => viewKey(row, register.now()));
}

/** @throws KeyRefusedError wrong-state */
function checkRotatable(row: KeyTable, now: number): void {
  const { state } = viewKey(row, now);
  if (state === 'active') return;
  const remedies = {
    rotating: `it is already being replaced by ${row.replaced_by}: rotate that one`,
    disabled: 'it is disabled: enable it first',
    expired: 'it has expired: create a new key',
    revoked: 'it is revoked: create a new key',
  };
  throw new KeyRefusedError('wrong-state', `key ${row.id} cannot be rotated, ${remedies[state]}`);
}

/** @throws KeyRefusedError invalid */
function checkOverlap(overlapMs: number): void {
  if (Number.isSafeInteger(overlapMs) && overlapMs >= 0 && overlapMs <= OVERLAP_MAX_MS) return;
  throw new KeyRefusedError('invalid', 'the overlap of a rotation is 0 to 90 days');
}

/**
 * Makes a new key in the family of an active one. The old key goes on for `overlapMs` (0: it ends at once), and
 * the new one inherits its name, plan and expiry, so a rotation never lengthens what was granted.
 * @throws KeyRefusedError
 */
export function rotateKey(
  register: KeyRegister,
  id: string,
  overlapMs: number = OVERLAP_DEFAULT_MS,
): Promise<NewKey & { old: KeyView }> {
  return inChange(register.store, async (trx) => {
    const version = await nextVersion(trx);
    const now = register.now();
    // One time for the whole rotation, so that old and new key meet exactly.
    const atNow = { ...register, now: () => now };
    checkOverlap(overlapMs);
    const row = await requireKey(trx, id);
    checkRotatable(row, now);
    await checkRoom(trx, register);
    const created = await insertKey(atNow, trx, version, row);
    await writeAudit(trx, version, auditEntry(atNow, 'key.create', created.key.id, { rotationOf: id }));
    const old = await retire(trx, row, created.key.id, Math.min(row.expires_at ?? Infinity, now + overlapMs));
    const detail = { replacedBy: created.key.id, expiresAt: old.expires_at };
    await writeAudit(trx, old.version, auditEntry(atNow, 'key.rotate', id, detail));
    return { ...created, old: viewKey(old, now) };
  });
}

async function retire(
  trx: Transaction<Schema>,
  row: KeyTable,
  replacedBy: string,
  expiresAt: number,
): Promise<KeyTable> {
  const version = await nextVersion(trx);
  const change = { state: 'rotating', replaced_by: replacedBy, expires_at: expiresAt, version } as const;
  await trx.updateTable('api_key').set(change).where('id', '=', row.id).execute();
  return { ...row, ...change };
}
