import type { MemberRole } from '../accounts/roles.ts';
import type { ContractName, ParsedRouteInput, RouteOutput } from './contract/contract.ts';

export type ApiCaller = Readonly<
  | { kind: 'anonymous' }
  /** `hasSession`: signed in with a cookie, not by the token of a provider. */
  | { kind: 'user'; userId: string; email: string; isOperator: boolean; hasSession: boolean }
  | { kind: 'token'; tokenId: string; customerId: string | null; role: MemberRole }
  /** A local program with access to the store. May call every route. */
  | { kind: 'local'; name: string }
>;

/** Returns a key that identifies the caller for limits across all routes. */
export function callerKeyOf(caller: ApiCaller): string {
  if (caller.kind === 'user') return `user ${caller.userId}`;
  if (caller.kind === 'token') return `token ${caller.tokenId}`;
  return caller.kind === 'local' ? `local ${caller.name}` : 'anonymous';
}

/** An authorized request. */
export type ApiContext = Readonly<{
  caller: ApiCaller;
  /** Actor in the audit log, such as `user:anna@example.com`, `token:7hQ2mKpZ` or `cli:root`. */
  actor: string;
  role: MemberRole | 'operator' | null;
  address: string | null;
  userAgent: string | null;
  requestId: string;
  /** For signature checks; null for in-process calls. */
  rawBody: Uint8Array | null;
  header(name: string): string | null;
  signal: AbortSignal;
}>;

/**
 * For formats other than JSON, yields pieces of text without a final line break; for `events`, each piece is one event.
 * @throws ApiError for client errors; any other error is logged and answered with 500.
 */
export type Handler<Name extends ContractName> = (
  input: ParsedRouteInput<Name>,
  context: ApiContext,
) => Promise<RouteOutput<Name>>;

export type Handlers<Names extends ContractName = ContractName> = Readonly<{
  [Name in Names]: Handler<Name>;
}>;

/** Infers the types of handlers from the names of their routes. */
export const defineHandlers = <Names extends ContractName>(handlers: Handlers<Names>): Handlers<Names> =>
  handlers;
