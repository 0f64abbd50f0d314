import type { Kysely } from 'kysely';
import { activeTokens } from '../../accounts/admin-tokens.ts';
import { type CustomerState, type MemberRole, roleAllows } from '../../accounts/roles.ts';
import { findRow } from '../../database/rows.ts';
import type { Schema } from '../../database/schema.ts';
import { ApiError, forbidden, notFound, unauthorized } from '../api-error.ts';
import { type ContractName, routeOf } from '../contract/contract.ts';
import type { ApiCaller, ApiContext } from '../handler.ts';

type Role = ApiContext['role'];
type Membership = Readonly<{ state: CustomerState; role: MemberRole | null }>;
type Path = Readonly<Record<string, string>>;

export function isOperator(caller: ApiCaller): boolean {
  if (caller.kind === 'user') return caller.isOperator;
  return caller.kind === 'local' || (caller.kind === 'token' && caller.customerId === null);
}

/** Also used for other users' customers, so that callers cannot find out which customers exist. */
const noSuchCustomer = (): ApiError =>
  notFound('There is no such customer. GET /me lists yours; operators find all with GET /customers.');

async function findMembership(
  db: Kysely<Schema>,
  customer: string,
  caller: ApiCaller,
): Promise<Membership | null> {
  const row = await findRow(db, 'customer', { id: customer });
  if (row === undefined || row.state === 'deleted') return null;
  if (caller.kind === 'token')
    return { state: row.state, role: caller.customerId === customer ? caller.role : null };
  if (caller.kind !== 'user') return { state: row.state, role: null };
  const member = await findRow(db, 'member', { customer_id: customer, user_id: caller.userId });
  return { state: row.state, role: member?.role ?? null };
}

function checkSignedIn(caller: ApiCaller): void {
  if (caller.kind !== 'anonymous') return;
  throw unauthorized(
    'NOT_SIGNED_IN',
    'Sign in, or send a token in the header: Authorization: Bearer svc_admin_live_…',
  );
}

function isOwnMembership(name: ContractName, path: Path, caller: ApiCaller): boolean {
  const { self } = routeOf(name);
  return self !== undefined && caller.kind === 'user' && path[self] === caller.userId;
}

function checkRole(name: ContractName, path: Path, caller: ApiCaller, role: MemberRole): void {
  const required = isOwnMembership(name, path, caller) ? 'viewer' : (routeOf(name).access as MemberRole);
  if (roleAllows(role, required)) return;
  throw forbidden('ROLE_TOO_SMALL', `This needs the role ${required}; yours is ${role}`);
}

/**
 * Returns `operator` for operators, else the caller's role in the route's customer; null for routes without a customer.
 * @throws ApiError 401 if not signed in, 403 if not allowed, 404 if the customer is unknown or not the caller's.
 */
export async function authorize(
  db: Kysely<Schema>,
  name: ContractName,
  path: Path,
  caller: ApiCaller,
): Promise<Role> {
  const { access } = routeOf(name);
  const mayAll = isOperator(caller);
  if (access === 'anybody') return mayAll ? 'operator' : null;
  checkSignedIn(caller);
  if (access === 'operator' && !mayAll)
    throw forbidden('OPERATOR_ONLY', 'Only the operator of this service may do this');
  if (path.customer === undefined) return mayAll ? 'operator' : null;
  const membership = await findMembership(db, path.customer, caller);
  if (membership === null) throw noSuchCustomer();
  if (mayAll) return 'operator';
  const { role, state } = membership;
  if (role === null) throw noSuchCustomer();
  checkRole(name, path, caller, role);
  // Owners cannot leave a suspended customer: they could then create another. See handlers/customers.ts.
  const mayLeave = role !== 'owner' && isOwnMembership(name, path, caller);
  if (state === 'suspended' && !name.startsWith('GET ') && !mayLeave)
    throw forbidden(
      'CUSTOMER_SUSPENDED',
      'This customer is suspended: members can only read or leave, owners can only read. Ask the operator.',
    );
  return role;
}

/** Returns the caller with current rights; null if the user was deleted or the token is no longer active. */
async function callerNow(db: Kysely<Schema>, caller: ApiCaller, now: number): Promise<ApiCaller | null> {
  if (caller.kind === 'user') {
    const row = await findRow(db, 'auth_user', { id: caller.userId });
    return row === undefined ? null : { ...caller, isOperator: row.isOperator === 1 };
  }
  if (caller.kind !== 'token') return caller;
  const row = await activeTokens(db, now).where('id', '=', caller.tokenId).executeTakeFirst();
  return row === undefined ? null : { ...caller, role: row.role, customerId: row.customer_id };
}

export async function assertRightsUnchanged(
  db: Kysely<Schema>,
  name: ContractName,
  path: Path,
  { caller, role, now }: Pick<ApiContext, 'caller' | 'role'> & Readonly<{ now: number }>,
): Promise<void> {
  const current = await callerNow(db, caller, now);
  if (current === null)
    throw unauthorized(
      'NOT_SIGNED_IN',
      'The account or token was revoked during the request. Sign in again.',
    );
  if ((await authorize(db, name, path, current)) === role) return;
  throw forbidden('RIGHTS_CHANGED', 'Your rights were changed during the request. Check them and try again.');
}

/** Whether a repeated check found that rights were revoked. Other errors mean that the check itself failed. */
export const isRevocation = (thrown: unknown): boolean =>
  thrown instanceof ApiError && [401, 403, 404].includes(thrown.status);
