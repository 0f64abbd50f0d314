import type { MemberRole } from '../accounts/roles.ts';
import type { ContractName, ParsedRouteInput, RouteOutput } from './contract/contract.ts';

export type ApiCaller = Readonly<
  | { kind: 'anonymous' }
  | { kind: 'user'; userId: string; email: string; isOperator: boolean }
  | { kind: 'token'; tokenId: string; customerId: string | null; role: MemberRole }
  /** A program on the machine with the store; it may call every route. */
  | { kind: 'local'; name: string }
>;

/** Name under which the caller's concurrent requests are limited, the same for all routes. */
export function concurrencyKeyOf(caller: ApiCaller): string {
  if (caller.kind === 'user') return `user ${caller.userId}`;
  if (caller.kind === 'token') return `token ${caller.tokenId}`;
  return caller.kind === 'local' ? `local ${caller.name}` : 'anonymous';
}

/** An authorized request. */
export type ApiContext = Readonly<{
  caller: ApiCaller;
  /** As in the audit log: `user:anna@example.com`, `token:7hQ2mKpZ`, `cli:root`. */
  actor: string;
  role: MemberRole | 'operator' | null;
  address: string | null;
  userAgent: string | null;
  requestId: string;
  /** For signature checks; null in process. */
  rawBody: Uint8Array | null;
  header(name: string): string | null;
  signal: AbortSignal;
}>;

/**
 * Formats other than JSON return lines without line breaks; with `events`, each one becomes an event.
 * @throws ApiError for client errors; anything else is logged and answered with 500.
 */
export type Handler<Name extends ContractName> = (
  input: ParsedRouteInput<Name>,
  context: ApiContext,
) => Promise<RouteOutput<Name>>;

export type Handlers<Names extends ContractName = ContractName> = Readonly<{
  [Name in Names]: Handler<Name>;
}>;

/** Types the handlers of some routes by their names. */
export const defineHandlers = <Names extends ContractName>(handlers: Handlers<Names>): Handlers<Names> =>
  handlers;
