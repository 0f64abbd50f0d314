import type { MemberRole } from '../accounts/roles.ts';
import type { ContractName, ParsedRouteInput, RouteOutput } from './contract/contract.ts';

/** Who asks the control API. */
export type ApiCaller = Readonly<
  | { kind: 'nobody' }
  | { kind: 'user'; userId: string; email: string; isOperator: boolean }
  | { kind: 'token'; tokenId: string; customerId: string | null; role: MemberRole }
  /** A program on the machine that holds the store: it may everything. */
  | { kind: 'local'; name: string }
>;

/** Whose share of places a caller takes: one name for a user, whatever is asked, and one for a token. */
export function concurrencyKeyOf(caller: ApiCaller): string {
  if (caller.kind === 'user') return `user ${caller.userId}`;
  if (caller.kind === 'token') return `token ${caller.tokenId}`;
  return caller.kind === 'local' ? `local ${caller.name}` : 'nobody';
}

/** One question to the control API, when it is known that its caller may ask it. */
export type ApiContext = Readonly<{
  caller: ApiCaller;
  /** As the audit log has it: `user:anna@example.com`, `token:7hQ2mKpZ`, `cli:root`. */
  actor: string;
  /** What the caller may: of routes of a customer, there. */
  role: MemberRole | 'operator' | null;
  /** null at the command line. */
  address: string | null;
  userAgent: string | null;
  requestId: string;
  /** The request itself where it came over the network: for signatures over its bytes. */
  rawBody: Uint8Array | null;
  header(name: string): string | null;
  signal: AbortSignal;
}>;

/**
 * Answers one route. Of a route with another format than JSON it gives the lines, without their breaks; each may be
 * several, joined by breaks. The server makes each one an event where the format is `events`.
 * @throws ApiError for what the caller can mend; anything else is logged and answered with 500.
 */
export type Handler<Name extends ContractName> = (
  given: ParsedRouteInput<Name>,
  context: ApiContext,
) => Promise<RouteOutput<Name>>;

/** Handlers of some routes. */
export type Handlers<Names extends ContractName = ContractName> = Readonly<{
  [Name in Names]: Handler<Name>;
}>;
