import type { Kysely } from 'kysely';
import type { Schema } from '../../database/schema.ts';
import { ApiError } from '../api-error.ts';
import type { ContractName } from '../contract/contract.ts';
import type { ApiCaller, ApiContext } from '../handler.ts';
import { authorize } from './authorize.ts';

/** A caller as the store has them now; null when there is no such user or token any more. */
async function callerNow(db: Kysely<Schema>, caller: ApiCaller, now: number): Promise<ApiCaller | null> {
  if (caller.kind === 'user') {
    const query = db.selectFrom('auth_user').select('isOperator').where('id', '=', caller.userId);
    const row = await query.executeTakeFirst();
    return row === undefined ? null : { ...caller, isOperator: row.isOperator === 1 };
  }
  if (caller.kind !== 'token') return caller;
  const row = await db
    .selectFrom('admin_token')
    .select(['role', 'customer_id'])
    .where('id', '=', caller.tokenId)
    .where('revoked_at', 'is', null)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .executeTakeFirst();
  return row === undefined ? null : { ...caller, role: row.role, customerId: row.customer_id };
}

/**
 * Whether a caller may still do what they might when they asked: somebody else's change may have come first.
 * @param role - what they might then.
 * @throws ApiError 401, 403, 404
 */
export async function checkStillAuthorized(
  db: Kysely<Schema>,
  name: ContractName,
  path: Readonly<Record<string, string>>,
  { caller, role, now }: Pick<ApiContext, 'caller' | 'role'> & Readonly<{ now: number }>,
): Promise<void> {
  const still = await callerNow(db, caller, now);
  if (still === null)
    throw new ApiError(
      401,
      'NOT_SIGNED_IN',
      'the account or token that asked was ended meanwhile: sign in again',
    );
  if ((await authorize(db, name, path, still)) === role) return;
  throw new ApiError(
    403,
    'RIGHTS_CHANGED',
    'your rights were changed meanwhile: look what they are, and ask again',
  );
}
