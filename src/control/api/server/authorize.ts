import type { Kysely } from 'kysely';
import { type CustomerState, type MemberRole, roleAllows } from '../../accounts/roles.ts';
import type { Schema } from '../../database/schema.ts';
import { ApiError } from '../api-error.ts';
import { type ContractName, routeOf } from '../contract/contract.ts';
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

/** What says that there is no right any more; others say that it cannot be known now. */
const refusals: readonly number[] = [401, 403, 404];

/**
 * Looks again and again whether an answer that goes on may still go on, one look after the other.
 * @param check - throws an ApiError with 401, 403 or 404 when it may not. Whatever else it throws, it is asked again.
 * @param onRefused - called once; nothing is looked at any more.
 * @returns what ends the looks.
 */
export function recheck(check: () => Promise<void>, everyMs: number, onRefused: () => void): () => void {
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  const runCheck = async (): Promise<void> => {
    try {
      await check();
    } catch (thrown) {
      if (!isOver && thrown instanceof ApiError && refusals.includes(thrown.status)) {
        isOver = true;
        onRefused();
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
