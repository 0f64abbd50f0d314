import type { Transaction } from 'kysely';
import { type MemberRole, roleAllows } from '../../accounts/roles.ts';
import type { Schema } from '../../database/schema.ts';
import { ApiError } from '../api-error.ts';
import type { ApiContext } from '../handler.ts';

/**
 * Nobody hands out more than they have themselves.
 * @throws ApiError 403
 */
export function checkMayGrant({ role }: Pick<ApiContext, 'role'>, granted: MemberRole): void {
  if (role === 'operator' || (role !== null && roleAllows(role, granted))) return;
  throw new ApiError(
    403,
    'ROLE_TOO_SMALL',
    `the role ${granted} is more than yours: ask somebody who has it`,
  );
}

/**
 * When what is handed out ends: what a token hands out, no later than the token itself. So nobody keeps by it what a
 * token had for an hour.
 * @param wanted - Unix milliseconds; null for never.
 */
export async function grantExpiry<Requested extends number | null>(
  trx: Transaction<Schema>,
  { caller }: Pick<ApiContext, 'caller'>,
  requested: Requested,
): Promise<number | Requested> {
  if (caller.kind !== 'token') return requested;
  const query = trx.selectFrom('admin_token').select('expires_at').where('id', '=', caller.tokenId);
  const { expires_at: own } = await query.executeTakeFirstOrThrow();
  return own === null ? requested : Math.min(own, requested ?? own);
}
