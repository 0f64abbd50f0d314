import { timingSafeEqual } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { credentialId, digestApiKey, generateCredential } from '../../gateway/auth/api-key.ts';
import { insertRow, selectRows, updateRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { AdminTokenTable } from '../database/tables/accounts.ts';
import type { Peppers } from '../pepper.ts';

/** Prefix of control API tokens. Differs from all API key prefixes, so that no listener accepts a token as a key. */
export const ADMIN_TOKEN_PREFIX = 'svc_admin_live_';

const LAST_USED_INTERVAL_MS = 30_000;

type NewControlToken = Omit<
  AdminTokenTable,
  'id' | 'digest' | 'pepper_version' | 'last_used_at' | 'revoked_at'
>;

/** Returns the row and the token itself, which is not stored. */
export async function createControlToken(
  trx: Transaction<Schema>,
  { current, secrets }: Peppers,
  input: NewControlToken,
): Promise<{ secret: string; row: AdminTokenTable }> {
  const { text, id } = generateCredential(ADMIN_TOKEN_PREFIX);
  const digest = digestApiKey(text, secrets.get(current) as Buffer).toString('hex');
  const row = { ...input, id, digest, pepper_version: current, last_used_at: null, revoked_at: null };
  await insertRow(trx, 'admin_token', row);
  return { secret: text, row };
}

export const activeTokens = (db: Kysely<Schema>, now: number) =>
  selectRows(db, 'admin_token', {})
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]));

/** Lists a customer's active tokens, newest first. @param customerId - null: lists operator tokens. */
export const listControlTokens = (
  db: Kysely<Schema>,
  customerId: string | null,
  now: number,
): Promise<AdminTokenTable[]> =>
  activeTokens(db, now)
    .where('customer_id', customerId === null ? 'is' : '=', customerId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();

function matchesDigest(row: AdminTokenTable, text: string, peppers: Peppers): boolean {
  const pepper = peppers.secrets.get(row.pepper_version);
  const stored = Buffer.from(row.digest, 'hex');
  return pepper !== undefined && timingSafeEqual(digestApiKey(text, pepper), stored);
}

/** Returns null unless the text is a valid token. Updates the time of last use at most every 30 seconds. */
export async function findControlToken(
  store: Store,
  peppers: Peppers,
  text: string,
  now: number,
): Promise<AdminTokenTable | null> {
  const id = credentialId(ADMIN_TOKEN_PREFIX, text);
  if (id === null) return null;
  const row = await activeTokens(store.db, now).where('id', '=', id).executeTakeFirst();
  if (row === undefined || !matchesDigest(row, text, peppers)) return null;
  if ((row.last_used_at ?? 0) + LAST_USED_INTERVAL_MS <= now)
    await updateRows(store.db, 'admin_token', { id }, { last_used_at: now });
  return row;
}
