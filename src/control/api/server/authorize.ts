import type { Kysely } from 'kysely';
import type { CustomerState, MemberRole } from '../../accounts/roles.ts';
import { roleAllows } from '../../accounts/roles.ts';
import type { Schema } from '../../database/schema.ts';
import { ApiError } from '../api-error.ts';
import type { ContractName } from '../contract/contract.ts';
import { routeOf } from '../contract/contract.ts';
import type { ApiCaller, ApiContext } from '../handler.ts';

type Role = ApiContext['role'];
type Membership = Readonly<{ state: CustomerState; role: MemberRole | null }>;

/** The operator in person, a token of the operator's, or a program beside the store. */
export function isOperator(caller: ApiCaller): boolean {
  if (caller.kind === 'user') return caller.isOperator;
  return caller.kind === 'local' || (caller.kind === 'token' && caller.customerId === null);
}

/** Of a customer that does not exist, and of one that is nothing to the caller, is said the same. */
const noSuchCustomer = (): ApiError =>
  new ApiError(
    404,
    'NOT_FOUND',
    'there is no such customer: GET /me lists yours, GET /customers all of them for an operator',
  );

async function findMembership(
  db: Kysely<Schema>,
  customer: string,
  caller: ApiCaller,
): Promise<Membership | null> {
  const row = await db.selectFrom('customer').select('state').where('id', '=', customer).executeTakeFirst();
  if (row === undefined) return null;
  if (caller.kind === 'token')
    return { state: row.state, role: caller.customerId === customer ? caller.role : null };
  if (caller.kind !== 'user') return { state: row.state, role: null };
  const member = await db
    .selectFrom('member')
    .select('role')
    .where('customer_id', '=', customer)
    .where('user_id', '=', caller.userId)
    .executeTakeFirst();
  return { state: row.state, role: member?.role ?? null };
}

function checkSignedIn(caller: ApiCaller): void {
  if (caller.kind !== 'nobody') return;
  throw new ApiError(
    401,
    'NOT_SIGNED_IN',
    'sign in, or send a token in the header: Authorization: Bearer svc_admin_live_…',
  );
}

/** Whether a user asks for themselves what a member may whatever their role: to leave. */
function isOwnMembership(
  name: ContractName,
  path: Readonly<Record<string, string>>,
  caller: ApiCaller,
): boolean {
  const { self } = routeOf(name);
  return self !== undefined && caller.kind === 'user' && path[self] === caller.userId;
}

/** @throws ApiError 403 */
function checkRole(
  name: ContractName,
  path: Readonly<Record<string, string>>,
  caller: ApiCaller,
  role: MemberRole,
) {
  const needed = isOwnMembership(name, path, caller) ? 'viewer' : (routeOf(name).access as MemberRole);
  if (roleAllows(role, needed)) return;
  throw new ApiError(403, 'ROLE_TOO_SMALL', `this needs the role ${needed}, and yours is ${role}`);
}

/**
 * Whether a caller may ask a route, by what the contract says of it.
 * @returns what the caller may there: of routes of a customer, the role; null where none is asked for.
 * @throws ApiError 401, 403, or 404 for customers that are nothing to the caller.
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
    throw new ApiError(403, 'OPERATOR_ONLY', 'only the operator of this service may do this');
  if (path.customer === undefined) return mayAll ? 'operator' : null;
  const membership = await findMembership(db, path.customer, caller);
  if (membership === null) throw noSuchCustomer();
  if (mayAll) return 'operator';
  const { role, state } = membership;
  if (role === null) throw noSuchCustomer();
  checkRole(name, path, caller, role);
  // An owner who left could go on under another customer: customers.ts.
  const mayLeave = role !== 'owner' && isOwnMembership(name, path, caller);
  if (state === 'suspended' && !name.startsWith('GET ') && !mayLeave)
    throw new ApiError(
      403,
      'CUSTOMER_SUSPENDED',
      'the customer is suspended, so its members may only look, and leave unless they own it: ask the operator',
    );
  return role;
}
