import { type Kysely, sql, type Transaction } from 'kysely';
import type { AuditEntry } from '../database/audit-entry.ts';
import { deleteRows, findRow, selectRows, updateRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import { nextVersions, writeAudits } from '../database/transaction.ts';
import { activeTokens } from './admin-tokens.ts';
import { openInvitations } from './invitations.ts';
import { type MemberRole, roleAllows } from './roles.ts';
import { activeUsageLinks, revokeUsageLink } from './usage-links.ts';

type AuditContext = Pick<AuditEntry, 'at' | 'actor' | 'address' | 'userAgent' | 'requestId'>;

type Grant = Readonly<{ customer: string | null; isOperator: boolean; role: MemberRole }>;

/** Selects an audit actor and all tokens that the actor issued, directly or through other tokens. */
const lineageOf = (db: Kysely<Schema>, actor: string) =>
  db
    .withRecursive('lineage(actor)', (recursive) =>
      recursive
        .selectNoFrom(sql<string>`cast(${actor} as text)`.as('actor'))
        .union(
          recursive
            .selectFrom('admin_token')
            .innerJoin('lineage', 'lineage.actor', 'admin_token.created_by')
            .select(sql<string>`'token:' || admin_token.id`.as('actor')),
        ),
    )
    .selectFrom('lineage')
    .select('actor');

/**
 * Revokes the tokens, usage links and open invitations that an audit actor issued, directly or through tokens, except
 * those for which `isRetained` returns true. Call it after changing the actor's rights, in the same transaction.
 * @returns the number of revoked grants.
 */
export async function revokeIssuedGrants(
  trx: Transaction<Schema>,
  actor: string,
  by: AuditContext,
  isRetained: (grant: Grant) => boolean,
): Promise<number> {
  const entries: Pick<AuditEntry, 'action' | 'customerId' | 'detail'>[] = [];
  const issuers = lineageOf(trx, actor);
  const tokens = await activeTokens(trx, by.at).where('created_by', 'in', issuers).orderBy('id').execute();
  const invitations = await openInvitations(trx, by.at)
    .where('created_by', 'in', issuers)
    .orderBy('id')
    .execute();
  for (const { id, name, customer_id, role, created_by } of tokens) {
    if (isRetained({ customer: customer_id, isOperator: false, role })) continue;
    await updateRows(trx, 'admin_token', { id }, { revoked_at: by.at });
    const detail = { token: id, name, role, created_by };
    entries.push({ action: 'token.end', customerId: customer_id, detail });
  }
  for (const { id, email, customer_id, role, is_operator, created_by } of invitations) {
    if (isRetained({ customer: customer_id, isOperator: is_operator === 1, role })) continue;
    await deleteRows(trx, 'invitation', { id });
    const detail = { invitation: id, email, role, created_by };
    entries.push({ action: 'invitation.delete', customerId: customer_id, detail });
  }
  const links = await activeUsageLinks(trx, by.at).where('created_by', 'in', issuers).orderBy('id').execute();
  for (const { id, name, customer_id, created_by } of links) {
    if (isRetained({ customer: customer_id, isOperator: false, role: 'admin' })) continue;
    await revokeUsageLink(trx, id);
    const detail = { link: id, name, created_by };
    entries.push({ action: 'usage-link.revoke', customerId: customer_id, detail });
  }
  if (entries.length === 0) return 0;
  const version = await nextVersions(trx, entries.length);
  await writeAudits(
    trx,
    version,
    entries.map((entry) => ({ ...by, ...entry })),
  );
  return entries.length;
}

async function grantPredicateFor(
  trx: Transaction<Schema>,
  userId: string,
): Promise<(grant: Grant) => boolean> {
  const rows = await selectRows(trx, 'member', { user_id: userId }).execute();
  const roles = new Map(rows.map(({ customer_id, role }) => [customer_id, role]));
  return ({ customer, isOperator, role }) => {
    const own = customer === null || isOperator ? undefined : roles.get(customer);
    return own !== undefined && roleAllows(own, role);
  };
}

/** Revokes grants that the user issued but may no longer issue. Call it in the transaction that changes the rights. */
export async function revokeExcessGrants(
  trx: Transaction<Schema>,
  user: Readonly<{ id: string; email: string }>,
  by: AuditContext,
): Promise<void> {
  if ((await findRow(trx, 'auth_user', { id: user.id }))?.isOperator === 1) return;
  await revokeIssuedGrants(trx, `user:${user.email}`, by, await grantPredicateFor(trx, user.id));
}
