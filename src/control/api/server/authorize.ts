import type { Kysely } from 'kysely';
import { activeTokens } from '../../accounts/admin-tokens.ts';
import { type CustomerState, type MemberRole, roleAllows } from '../../accounts/roles.ts';
import { findRow } from '../../database/rows.ts';
import type { Schema } from '../../database/schema.ts';
import { ApiError, forbidden, notFound } from '../api-error.ts';
import { type ContractName, routeOf } from '../contract/contract.ts';
import type { ApiCaller, ApiContext } from '../handler.ts';

type Role = ApiContext['role'];
type Membership = Readonly<{ state: CustomerState; role: MemberRole | null }>;

/** An operator user, an operator token, or the local command line. */
export function isOperator(caller: ApiCaller): boolean {
  if (caller.kind === 'user') return caller.isOperator;
  return caller.kind === 'local' || (caller.kind === 'token' && caller.customerId === null);
}

/** The same error for unknown customers and for those of others. */
const noSuchCustomer = (): ApiError =>
  notFound('There is no such customer. GET /me lists yours; operators find all with GET /customers.');

async function findMembership(
  db: Kysely<Schema>,
  customer: string,
  caller: ApiCaller,
): Promise<Membership | null> {
  const row = await findRow(db, 'customer', { id: customer });
  if (row === undefined) return null;
  if (caller.kind === 'token')
    return { state: row.state, role: caller.customerId === customer ? caller.role : null };
  if (caller.kind !== 'user') return { state: row.state, role: null };
  const member = await findRow(db, 'member', { customer_id: customer, user_id: caller.userId });
  return { state: row.state, role: member?.role ?? null };
}

function checkSignedIn(caller: ApiCaller): void {
  if (caller.kind !== 'anonymous') return;
  throw new ApiError(
    401,
    'NOT_SIGNED_IN',
    'Sign in, or send a token in the header: Authorization: Bearer svc_admin_live_…',
  );
}

/** A member may leave a customer whatever their role. */
function isOwnMembership(
  name: ContractName,
  path: Readonly<Record<string, string>>,
  caller: ApiCaller,
): boolean {
  const { self } = routeOf(name);
  return self !== undefined && caller.kind === 'user' && path[self] === caller.userId;
}

function checkRole(
  name: ContractName,
  path: Readonly<Record<string, string>>,
  caller: ApiCaller,
  role: MemberRole,
) {
  const required = isOwnMembership(name, path, caller) ? 'viewer' : (routeOf(name).access as MemberRole);
  if (roleAllows(role, required)) return;
  throw forbidden('ROLE_TOO_SMALL', `This needs the role ${required}; yours is ${role}`);
}

/**
 * Authorizes a caller for a route.
 * @returns the caller's role for the customer of the route; null if the route needs none.
 * @throws ApiError 401, 403, or 404 for customers of others.
 */
export async function authorize(
  db: Kysely<Schema>,
  name: ContractName,
  path: Readonly<Record<string, string>>,
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
  // An owner who left could continue with another customer: see handlers/customers.ts.
  const mayLeave = role !== 'owner' && isOwnMembership(name, path, caller);
  if (state === 'suspended' && !name.startsWith('GET ') && !mayLeave)
    throw forbidden(
      'CUSTOMER_SUSPENDED',
      'This customer is suspended: members can only read or leave, owners can only read. Ask the operator.',
    );
  return role;
}

/** The caller's current rights; null if the user or token no longer exists. */
async function callerNow(db: Kysely<Schema>, caller: ApiCaller, now: number): Promise<ApiCaller | null> {
  if (caller.kind === 'user') {
    const row = await findRow(db, 'auth_user', { id: caller.userId });
    return row === undefined ? null : { ...caller, isOperator: row.isOperator === 1 };
  }
  if (caller.kind !== 'token') return caller;
  const row = await activeTokens(db, now).where('id', '=', caller.tokenId).executeTakeFirst();
  return row === undefined ? null : { ...caller, role: row.role, customerId: row.customer_id };
}

/**
 * Checks that a caller's rights have not changed since the request was authorized.
 * @param role - the role at that time.
 * @throws ApiError 401, 403, 404
 */
export async function assertRightsUnchanged(
  db: Kysely<Schema>,
  name: ContractName,
  path: Readonly<Record<string, string>>,
  { caller, role, now }: Pick<ApiContext, 'caller' | 'role'> & Readonly<{ now: number }>,
): Promise<void> {
  const current = await callerNow(db, caller, now);
  if (current === null)
    throw new ApiError(
      401,
      'NOT_SIGNED_IN',
      'The account or token was revoked during the request. Sign in again.',
    );
  if ((await authorize(db, name, path, current)) === role) return;
  throw forbidden('RIGHTS_CHANGED', 'Your rights were changed during the request. Check them and try again.');
}

/** Statuses that mean revoked rights; other errors mean that the check failed. */
const revokedStatuses: readonly number[] = [401, 403, 404];

/**
 * Repeats an authorization check of a long-lived response.
 * @param check - throws ApiError 401, 403 or 404 if the rights are revoked; other errors are ignored.
 * @param onRevoked - called once.
 * @returns stops the checks.
 */
export function recheck(check: () => Promise<void>, everyMs: number, onRevoked: () => void): () => void {
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  const runCheck = async (): Promise<void> => {
    try {
      await check();
    } catch (thrown) {
      if (!isOver && thrown instanceof ApiError && revokedStatuses.includes(thrown.status)) {
        isOver = true;
        onRevoked();
      }
    }
    if (!isOver) wait();
  };
  const wait = (): void => {
    timer = setTimeout(() => void runCheck(), everyMs).unref();
  };
  wait();
  return () => {
    isOver = true;
    if (timer !== null) clearTimeout(timer);
  };
}
