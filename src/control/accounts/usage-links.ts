import { randomUUID } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { deleteRows, findRow, insertRow, selectRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { UsageLinkTable } from '../database/tables/accounts.ts';
import { createLinkToken, linkTokenDigest } from './link-token.ts';

/** Returns the row and the token itself, which is not stored. Deletes the customer's expired links. */
export async function addUsageLink(
  trx: Transaction<Schema>,
  input: Omit<UsageLinkTable, 'id' | 'token_digest'>,
): Promise<{ token: string; row: UsageLinkTable }> {
  const { customer_id, created_at } = input;
  await trx
    .deleteFrom('usage_link')
    .where('customer_id', '=', customer_id)
    .where('expires_at', '<=', created_at)
    .execute();
  const { token, digest } = createLinkToken();
  const row = { ...input, id: randomUUID(), token_digest: digest };
  await insertRow(trx, 'usage_link', row);
  return { token, row };
}

/** Does not check for revocation, because revoked links are deleted. */
export const activeUsageLinks = (db: Kysely<Schema>, now: number) =>
  selectRows(db, 'usage_link', {}).where('expires_at', '>', now);

/** Returns null for an unknown, expired or revoked link. */
export async function findUsageLink(
  db: Kysely<Schema>,
  token: string,
  now: number,
): Promise<UsageLinkTable | null> {
  const digest = linkTokenDigest(token);
  const row = digest === null ? undefined : await findRow(db, 'usage_link', { token_digest: digest });
  return row === undefined || row.expires_at <= now ? null : row;
}

export const revokeUsageLink = (trx: Transaction<Schema>, id: string): Promise<number> =>
  deleteRows(trx, 'usage_link', { id });
