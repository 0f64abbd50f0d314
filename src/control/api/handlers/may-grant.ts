import { type MemberRole, roleAllows } from '../../accounts/roles.ts';
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
