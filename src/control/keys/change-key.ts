import { sql, type Transaction } from 'kysely';
import type { Lru } from '../../base/cache/lru.ts';
import { chunk } from '../../base/chunk.ts';
import { createPlaygroundToken, TOKEN_TTL_MS } from '../../gateway/auth/playground-token.ts';
import { ApiError, conflict } from '../api/api-error.ts';
import { OVERLAP_DEFAULT_MS, OVERLAP_MAX_MS } from '../api/contract/keys.ts';
import { fieldsOf, selectRows, updateRows } from '../database/rows.ts';
import type { KeyTable, Schema } from '../database/schema.ts';
import {
  makeChange,
  nextVersion,
  nextVersions,
  transact,
  transactAndNotify,
  writeAudit,
  writeAudits,
} from '../database/transaction.ts';
import { checkExpiry, insertKey, type NewKey, omitUndefined, requirePlan } from './create-key.ts';
import { assertKeyQuota } from './key-quota.ts';
import {
  auditEntry,
  beforeAndAfter,
  hasExpired,
  type KeyRegister,
  type KeyView,
  rejectField,
  requireKey,
  viewKey,
} from './key-register.ts';
import { checkRules, detailOfRules, type KeyRulesInput, type RuleColumns } from './rule-columns.ts';

export type KeyChange = {
  readonly [Field in keyof Changeable]?: Changeable[Field] | undefined;
};

type Changeable = KeyRulesInput & Readonly<{ name: string; expiresAt: number | null }>;

type Columns = RuleColumns & Pick<KeyTable, 'name' | 'expires_at'>;

const detailOf = (row: Columns) => ({ ...fieldsOf(row, 'name', 'expires_at'), ...detailOfRules(row) });

const wrongState = (message: string): ApiError => conflict('WRONG_STATE', message);

function checkChangeable(row: KeyTable, now: number): void {
  if (row.state !== 'revoked' && !hasExpired(row, now)) return;
  const state = row.state === 'revoked' ? 'revoked' : 'expired';
  throw wrongState(
    `Key ${row.id} cannot be changed because it is ${state}, which is final. Create a new key.`,
  );
}

async function columnsAfter(
  trx: Transaction<Schema>,
  register: KeyRegister,
  row: KeyTable,
  change: KeyChange,
): Promise<Columns> {
  const { isPublic, expiresAt, name, ...use } = viewKey(row, register.now());
  const plan = await requirePlan(trx, row.plan_id);
  const requested: KeyRulesInput = { ...use, ...omitUndefined(change) };
  // If the plan's rate was lowered, a higher stored rate must not block other changes. The plan caps the rate anyway.
  const rate = change.rate === undefined ? null : requested.rate;
  const addressPerSecond = change.addressPerSecond === undefined ? null : requested.addressPerSecond;
  const ruledKey = { product: row.product, isPublic, plan };
  const columns = checkRules({ ...requested, rate, addressPerSecond }, ruledKey);
  const { rate_per_second, rate_burst, address_per_second } = row;
  return {
    ...columns,
    ...(change.rate === undefined && { rate_per_second, rate_burst }),
    ...(change.addressPerSecond === undefined && { address_per_second }),
    name: change.name ?? name,
    expires_at: change.expiresAt === undefined ? expiresAt : checkExpiry(change.expiresAt, register.now()),
  };
}

/** Never extends a rotating key beyond the end of its overlap. */
function endOf(row: KeyTable, expiresAt: number | null): number | null {
  if (row.replaced_by === null || row.expires_at === null) return expiresAt;
  return Math.min(row.expires_at, expiresAt ?? Infinity);
}

function activeFamily(trx: Transaction<Schema>, familyId: string, now: number): Promise<KeyTable[]> {
  return selectRows(trx, 'api_key', { family_id: familyId })
    .where('state', '!=', 'revoked')
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .orderBy('id')
    .execute();
}

/**
 * Changes the rules, name or expiry of a family's unrevoked, unexpired keys. Never extends the overlap of a rotation.
 * @throws ApiError
 */
export function changeKey(register: KeyRegister, id: string, change: KeyChange): Promise<KeyView> {
  return makeChange(register.store, async (trx, version) => {
    const row = await requireKey(trx, id, register);
    const now = register.now();
    checkChangeable(row, now);
    const columns = await columnsAfter(trx, register, row, change);
    const detail = beforeAndAfter(detailOf(row), detailOf(columns));
    if (Object.keys(detail).length === 0) return viewKey(row, now);
    for (const member of await activeFamily(trx, row.family_id, now)) {
      const expiresAt =
        change.expiresAt === undefined ? member.expires_at : endOf(member, columns.expires_at);
      const values = { ...columns, expires_at: expiresAt, version: await nextVersion(trx) };
      await updateRows(trx, 'api_key', { id: member.id }, values);
    }
    await writeAudit(trx, version, auditEntry(register, 'key.change', row, detail));
    return viewKey(await requireKey(trx, id, register), now);
  });
}

type Change = Partial<Pick<KeyTable, 'state' | 'expires_at'>>;

const stateDetail = (row: KeyTable) => fieldsOf(row, 'state', 'expires_at');

/** @param decide - returns null if nothing changes. */
function changeState(
  register: KeyRegister,
  id: string,
  action: string,
  decide: (row: KeyTable) => Change | null,
): Promise<KeyView> {
  return makeChange(register.store, async (trx, version) => {
    const row = await requireKey(trx, id, register);
    const change = decide(row);
    if (change === null) return viewKey(row, register.now());
    const after = { ...row, ...change, version };
    await updateRows(trx, 'api_key', { id }, { ...change, version });
    const detail = beforeAndAfter(stateDetail(row), stateDetail(after));
    await writeAudit(trx, version, auditEntry(register, action, row, detail));
    return viewKey(after, register.now());
  });
}

function rejectState(
  { id, state }: Pick<KeyTable, 'id'> & { state: KeyView['state'] },
  what: string,
  remedy: string,
): never {
  throw wrongState(`Key ${id} cannot be ${what}: it is ${state}, ${remedy}.`);
}

function rejectExpired(row: KeyTable, now: number, what: string): void {
  if (hasExpired(row, now))
    rejectState({ id: row.id, state: 'expired' }, what, 'which is final. Create a new key');
}

/** Idempotent. @throws ApiError 404 */
export const revokeKey = (register: KeyRegister, id: string): Promise<KeyView> =>
  changeState(register, id, 'key.revoke', (row) => (row.state === 'revoked' ? null : { state: 'revoked' }));

export function disableKey(register: KeyRegister, id: string): Promise<KeyView> {
  return changeState(register, id, 'key.disable', (row) => {
    if (row.state === 'disabled') return null;
    if (row.state === 'revoked') rejectState(row, 'disabled', 'which is final');
    rejectExpired(row, register.now(), 'disabled');
    return { state: 'disabled' };
  });
}

export function enableKey(register: KeyRegister, id: string): Promise<KeyView> {
  return changeState(register, id, 'key.enable', (row) => {
    if (row.state === 'revoked') rejectState(row, 'enabled', 'which is final. Create a new key');
    rejectExpired(row, register.now(), 'enabled');
    if (row.state === 'active' || row.state === 'rotating') return null;
    return { state: row.replaced_by === null ? 'active' : 'rotating' };
  });
}

/** Ends the overlap of a rotation early, at `expiresAt` (default: now). @throws ApiError */
export function cutOverlap(register: KeyRegister, id: string, expiresAt?: number): Promise<KeyView> {
  return changeState(register, id, 'key.cut-overlap', (row) => {
    if (row.state !== 'rotating')
      rejectState(row, 'cut short', 'and only a key in rotation has an overlap to end');
    const end = Math.max(expiresAt ?? 0, register.now());
    if (row.expires_at !== null && row.expires_at <= end) return null;
    return { expires_at: end };
  });
}

type PlaygroundToken = { token: string; expiresAt: number };

/** Tokens by user, key and pepper. Reused for a minute, because each new one is audited. */
export type RecentTokens = Lru<string, PlaygroundToken>;

const TOKEN_REUSE_MS = 60_000;

/**
 * Issues a token with which the playground calls the API as this key, for a few minutes.
 * @throws ApiError 404, or 409 if the key is not valid
 */
export async function issuePlaygroundToken(
  register: KeyRegister,
  id: string,
  recent: RecentTokens,
): Promise<PlaygroundToken> {
  const row = await requireKey(register.store.db, id, register);
  const { state } = viewKey(row, register.now());
  const name = `${row.pepper_version} ${id} ${register.actor}`;
  const known = recent.get(name);
  const isRecent = known !== undefined && register.now() < known.expiresAt - TOKEN_TTL_MS + TOKEN_REUSE_MS;
  if (isRecent && (state === 'active' || state === 'rotating')) return known;
  const token = await issueToken(register, id);
  recent.set(name, token);
  return token;
}

function issueToken(register: KeyRegister, id: string): Promise<PlaygroundToken> {
  return transact(register.store, async (trx) => {
    const version = await nextVersion(trx);
    const row = await requireKey(trx, id, register);
    const { state } = viewKey(row, register.now());
    if (state !== 'active' && state !== 'rotating')
      rejectState({ id, state }, 'used', 'so choose another key');
    const expiresAt = register.now() + TOKEN_TTL_MS;
    await writeAudit(trx, version, auditEntry(register, 'key.playground-token', row, { expiresAt }));
    return {
      token: createPlaygroundToken(id, expiresAt, register.peppers.secrets.get(row.pepper_version)!),
      expiresAt,
    };
  });
}

function checkRotatable(row: KeyTable, now: number): void {
  const { state } = viewKey(row, now);
  if (state === 'active') return;
  const remedies = {
    rotating: `it is already being replaced by ${row.replaced_by}. Rotate that key instead.`,
    disabled: 'it is disabled. Enable it first.',
    expired: 'it has expired. Create a new key.',
    revoked: 'it is revoked. Create a new key.',
  };
  throw wrongState(`Key ${row.id} cannot be rotated: ${remedies[state]}`);
}

export function checkOverlap(overlapMs: number): void {
  if (Number.isSafeInteger(overlapMs) && overlapMs >= 0 && overlapMs <= OVERLAP_MAX_MS) return;
  rejectField('overlapMs', 'The overlap of a rotation must be 0 to 90 days (2,160 hours)');
}

/**
 * Creates a new key in the family of an active key, and lets the old key expire after at most `overlapMs`. The new key
 * inherits all settings, including the expiry, so that a rotation never extends a grant.
 * @throws ApiError
 */
export function rotateKey(
  register: KeyRegister,
  id: string,
  overlapMs: number = OVERLAP_DEFAULT_MS,
): Promise<NewKey & { old: KeyView }> {
  return makeChange(register.store, async (trx, version) => {
    const now = register.now();
    // One timestamp for the whole rotation, so that the overlap is exact.
    const atNow = { ...register, now: () => now };
    const row = await requireKey(trx, id, register);
    checkRotatable(row, now);
    await assertKeyQuota(trx, register, row.customer_id, version);
    const { row: newRow, ...created } = await insertKey(atNow, trx, version, row);
    await writeAudit(trx, version, auditEntry(atNow, 'key.create', newRow, { rotationOf: id }));
    const old = await retire(trx, row, newRow.id, Math.min(row.expires_at ?? Infinity, now + overlapMs));
    const detail = { replacedBy: newRow.id, ...beforeAndAfter(stateDetail(row), stateDetail(old)) };
    await writeAudit(trx, old.version, auditEntry(atNow, 'key.rotate', row, detail));
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
  await updateRows(trx, 'api_key', { id: row.id }, change);
  return { ...row, ...change };
}

/** Maximum keys per statement. PostgreSQL accepts 65,535 parameters. */
const BATCH_KEYS = 200;

async function requireKeys(
  trx: Transaction<Schema>,
  ids: readonly string[],
  { customerId }: KeyRegister,
): Promise<KeyTable[]> {
  const rows = await selectRows(trx, 'api_key', { customer_id: customerId }).where('id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = byId.get(id);
    if (row !== undefined) return row;
    const message = `There is no key ${JSON.stringify(id.slice(0, 16))}. See the list of keys for the ids.`;
    throw new ApiError(404, 'NOT_FOUND', message, { fields: { ids: message } });
  });
}

async function revokeBatch(
  trx: Transaction<Schema>,
  register: Pick<KeyRegister, 'actor' | 'origin' | 'now'>,
  rows: readonly KeyTable[],
): Promise<KeyTable[]> {
  const first = await nextVersions(trx, rows.length);
  const cases = rows.map(({ id }, index) => sql`when ${id} then cast(${first + index} as bigint)`);
  const ids = rows.map(({ id }) => id);
  await trx
    .updateTable('api_key')
    .set({ state: 'revoked', version: sql<number>`case id ${sql.join(cases, sql` `)} end` })
    .where('id', 'in', ids)
    .execute();
  const after = { state: 'revoked' } as const;
  const entries = rows.map((row) =>
    auditEntry(register, 'key.revoke', row, beforeAndAfter({ state: row.state }, after)),
  );
  await writeAudits(trx, first, entries);
  return rows.map((row, index) => ({ ...row, ...after, version: first + index }));
}

/** Revokes keys in a transaction that has locked the change counter. Returns the new rows. */
export async function revokeRows(
  trx: Transaction<Schema>,
  register: Pick<KeyRegister, 'actor' | 'origin' | 'now'>,
  rows: readonly KeyTable[],
): Promise<KeyTable[]> {
  const revoked: KeyTable[] = [];
  for (const batch of chunk(rows, BATCH_KEYS)) revoked.push(...(await revokeBatch(trx, register, batch)));
  return revoked;
}

/** Revokes keys, all or none. Idempotent. Returns each key once, in the order of `ids`. */
export function revokeKeys(register: KeyRegister, ids: readonly string[]): Promise<KeyView[]> {
  return transactAndNotify(register.store, async (trx) => {
    // Locks the change counter before anything is read.
    await nextVersions(trx, 0);
    const rows = await requireKeys(trx, [...new Set(ids)], register);
    const unrevoked = rows.filter(({ state }) => state !== 'revoked');
    const revoked = new Map((await revokeRows(trx, register, unrevoked)).map((row) => [row.id, row]));
    return rows.map((row) => viewKey(revoked.get(row.id) ?? row, register.now()));
  });
}
