import type { Transaction } from 'kysely';
import { ADMIN_TOKEN_PREFIX, createControlToken, listControlTokens } from '../../accounts/admin-tokens.ts';
import { revokeIssuedGrants } from '../../accounts/issued-grants.ts';
import { type MemberRole, roleAllows } from '../../accounts/roles.ts';
import { fieldsOf, selectRows, updateRows } from '../../database/rows.ts';
import type { Schema } from '../../database/schema.ts';
import type { AdminTokenTable } from '../../database/tables/accounts.ts';
import { forbidden, invalidField, limitReached, notFound } from '../api-error.ts';
import { type ApiContext, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { withAudit } from './audit.ts';

/** Grants never exceed the rights of their issuer. @throws ApiError 403 */
export function checkMayGrant({ role }: Pick<ApiContext, 'role'>, granted: MemberRole): void {
  if (role === 'operator' || (role !== null && roleAllows(role, granted))) return;
  throw forbidden('ROLE_TOO_SMALL', `The role ${granted} exceeds yours. Ask a member with that role.`);
}

/** Limits the expiry of a grant to that of the token that issues it; null: never expires. */
export async function grantExpiry<Requested extends number | null>(
  trx: Transaction<Schema>,
  { caller }: Pick<ApiContext, 'caller'>,
  requested: Requested,
): Promise<number | Requested> {
  if (caller.kind !== 'token') return requested;
  const token = await selectRows(trx, 'admin_token', { id: caller.tokenId }).executeTakeFirstOrThrow();
  const { expires_at: own } = token;
  return own === null ? requested : Math.min(own, requested ?? own);
}

const tokenJson = (row: AdminTokenTable) => ({
  start: `${ADMIN_TOKEN_PREFIX}${row.id}`,
  ...fieldsOf(row, 'id', 'name', 'role', 'created_by', 'created_at', 'expires_at', 'last_used_at'),
});

type TokenInput = Readonly<{ name: string; role: MemberRole; expiresAt: number | null }>;

function checkExpiry(expiresAt: number | null, now: number): void {
  if (expiresAt !== null && expiresAt <= now) throw invalidField('expiresAt', 'must be in the future');
}

/** @param customerId - null: an operator token. */
function createToken(
  services: ApiServices,
  customerId: string | null,
  input: TokenInput,
  context: ApiContext,
) {
  checkMayGrant(context, input.role);
  checkExpiry(input.expiresAt, services.now());
  return withAudit(services, context, async (trx) => {
    const at = services.now();
    const { tokensMax } = services.accounts.limits;
    if ((await listControlTokens(trx, customerId, at)).length >= tokensMax)
      throw limitReached(`The maximum of ${tokensMax} tokens has been reached. Revoke some first.`);
    const { name, role } = input;
    const expires_at = await grantExpiry(trx, context, input.expiresAt);
    const created = { created_by: context.actor, created_at: at, expires_at };
    const newToken = { name, role, customer_id: customerId, ...created };
    const { secret, row } = await createControlToken(trx, services.peppers, newToken);
    const detail = { token: row.id, name: row.name, role: row.role, expiresAt: row.expires_at };
    return [
      { secret, token: tokenJson(row) },
      { action: 'token.create', customerId, detail },
    ];
  });
}

function revokeToken(
  services: ApiServices,
  customerId: string | null,
  { id, withMade }: Readonly<{ id: string; withMade: boolean }>,
  context: ApiContext,
) {
  return withAudit(services, context, async (trx) => {
    const rows = await listControlTokens(trx, customerId, services.now());
    const row = rows.find((one) => one.id === id);
    if (row === undefined) throw notFound('There is no such token. See the list of tokens for the ids.');
    checkMayGrant(context, row.role);
    const at = services.now();
    await updateRows(trx, 'admin_token', { id }, { revoked_at: at });
    const made = withMade ? await revokeIssuedGrants(trx, `token:${id}`, { ...context, at }, () => false) : 0;
    const detail = { token: id, name: row.name, role: row.role, made };
    return [
      { done: true as const, made },
      { action: 'token.end', customerId, detail },
    ];
  });
}

async function list({ store, now }: ApiServices, customerId: string | null) {
  return { tokens: (await listControlTokens(store.db, customerId, now())).map(tokenJson) };
}

export const tokenHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /customers/{customer}/tokens': ({ path }) => list(services, path.customer),
    'POST /customers/{customer}/tokens': async ({ path, body }, context) =>
      createToken(services, path.customer, body, context),
    'DELETE /customers/{customer}/tokens/{token}': ({ path, query }, context) =>
      revokeToken(services, path.customer, { id: path.token, ...query }, context),
    'GET /tokens': () => list(services, null),
    'POST /tokens': async ({ body }, context) =>
      createToken(services, null, { ...body, role: 'owner' }, context),
    'DELETE /tokens/{token}': ({ path, query }, context) =>
      revokeToken(services, null, { id: path.token, ...query }, context),
  });
