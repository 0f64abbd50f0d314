import { randomUUID } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { ApiError } from '../api/api-error.ts';
import { insertRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { InvitationTable } from '../database/tables/accounts.ts';
import { createLinkToken, linkTokenDigest } from './link-token.ts';

/** Returns the row and the token itself, which is not stored. */
export async function addInvitation(
  trx: Transaction<Schema>,
  input: Omit<InvitationTable, 'id' | 'token_digest' | 'accepted_at'>,
): Promise<{ token: string; row: InvitationTable }> {
  const { token, digest } = createLinkToken();
  const row = { ...input, id: randomUUID(), token_digest: digest, accepted_at: null };
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
  const digest = linkTokenDigest(token);
  if (digest === null) return null;
  const query = openInvitations(db, now).where('token_digest', '=', digest);
  return (await query.executeTakeFirst()) ?? null;
}

export const noSuchInvitation = (): ApiError =>
  new ApiError(
    404,
    'INVITATION_OVER',
    'This invitation has expired, was already used, or was revoked. Ask for a new one.',
  );

export async function isInvited(store: Store, email: string, now: number): Promise<boolean> {
  const query = openInvitations(store.db, now).where('email', '=', email.toLowerCase());
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}
