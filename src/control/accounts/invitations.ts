import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { ApiError } from '../api/api-error.ts';
import { insertRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { InvitationTable } from '../database/tables/accounts.ts';

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Returns the row and the token itself, which is not stored. */
export async function addInvitation(
  trx: Transaction<Schema>,
  input: Omit<InvitationTable, 'id' | 'token_digest' | 'accepted_at'>,
): Promise<{ token: string; row: InvitationTable }> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const row = { ...input, id: randomUUID(), token_digest: digestOf(token), accepted_at: null };
  await insertRow(trx, 'invitation', row);
  return { token, row };
}

/** Does not check for revocation, because revoked invitations are deleted. */
export const openInvitations = (db: Kysely<Schema>, now: number) =>
  db.selectFrom('invitation').selectAll().where('accepted_at', 'is', null).where('expires_at', '>', now);

export async function findInvitationByToken(
  db: Kysely<Schema>,
  token: string,
  now: number,
): Promise<InvitationTable | null> {
  if (!TOKEN.test(token)) return null;
  const query = openInvitations(db, now).where('token_digest', '=', digestOf(token));
  return (await query.executeTakeFirst()) ?? null;
}

export const noSuchInvitation = (): ApiError =>
  new ApiError(
    404,
    'INVITATION_OVER',
    'This invitation has expired or was accepted or revoked. Ask for a new one.',
  );

export async function isInvited(store: Store, email: string, now: number): Promise<boolean> {
  const query = openInvitations(store.db, now).where('email', '=', email.toLowerCase());
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}
