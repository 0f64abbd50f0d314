import type { IpAddress } from '../base/ip-address.ts';
import type { Network, PendingCall, RpcResponse } from './call.ts';
import type { Failure } from './errors.ts';
import type { Product } from './product.ts';
import type { StreamedResponse } from './streamed-response.ts';

/** Where a request came from, as the listener saw it. */
export type ClientInfo = Readonly<{
  /** Canonical form; behind trusted proxies the forwarded address. Empty if already disconnected. */
  address: string;
  /** For comparison; null if `address` is empty. */
  ip: IpAddress | null;
  /** Address of a trusted proxy without a forwarded address: many clients may share it. */
  isProxy: boolean;
  /** `Origin` header. */
  origin: string | null;
}>;

/** Credentials and origin of a request. */
export type Caller = Readonly<{
  /** API key as sent; null if absent. Used for authentication only. */
  credential: string | null;
  client: ClientInfo;
  /** W3C `traceparent` header. */
  traceparent?: string | null | undefined;
  /** Session with monotonic reads. Absent or null: none. */
  session?: string | null | undefined;
  /** Query parameter `network`, unvalidated. Absent or null: the default network. */
  network?: string | null | undefined;
}>;

/** Call passed from a server to the pipeline. */
export type RpcRequest = Omit<Caller, 'network'> &
  Readonly<{
    product: Product;
    network: Network;
    method: string;
    /** Raw JSON text of `params`; null if absent. */
    params: Buffer | null;
    /** Request bytes, for metering. */
    bytesIn: number;
    /** Bytes of the response id, for metering. */
    idBytes: number;
  }>;

/** Malformed body, invalid call, notification or empty batch. */
export type InvalidRequest = Omit<Caller, 'network'> &
  Readonly<{
    product: Product;
    network: Network;
    /** null for a valid request without a call. */
    fault: Failure | null;
    /** Request bytes, for metering. */
    bytesIn: number;
    /** Bytes of the response id, for metering; null: no response. */
    idBytes: number | null;
  }>;

/** Rate limit state of the caller, sent as RateLimit headers. */
export type RateLimitState = Readonly<{
  limit: number;
  remaining: number;
  windowSeconds: number;
  resetSeconds: number;
}>;

export type LimitStatus = Readonly<{
  rateLimit: RateLimitState | null;
  /** Monthly credits, if the plan has a quota. */
  quota?: RateLimitState | null;
}>;

export type Outcome = Readonly<
  { response: RpcResponse; failure: null } | { response: null; failure: Failure }
> &
  LimitStatus;

/** `failure`: what is invalid, or why the request was not admitted; null: no response. */
export type InvalidRequestOutcome = Readonly<{ failure: Failure | null }> & LimitStatus;

/** Called once, possibly before `dispatch` returns. Must not throw. */
export interface Responder {
  respond(outcome: Outcome): void;
  /** Receives large results as a stream. Absent or null: buffered. */
  readonly stream?: StreamResponder | null;
}

/** Receives a large result in place of `respond`. The request ends with the response. */
export interface StreamResponder {
  respondStream(response: StreamedResponse, limits: LimitStatus): void;
}

/** State of an admitted request, opaque to servers. Valid only within the same turn of the event loop. */
export type AdmittedRequest = Readonly<{ startedAt: number }>;

/** Request handling behind a JSON-RPC server. */
export type RequestHandler = Readonly<{
  /**
   * Authenticates a caller, and meters the request if it is rejected. Called before the body is read, so that
   * unauthenticated clients use no memory.
   * @param network - null for none.
   */
  admit: (caller: Caller, product: Product, network: Network | null) => AdmittedRequest | Failure;
  /**
   * Executes and meters one call. Never throws: failures are outcomes.
   * @param admitted - result of `admit` in the same turn. Absent or null: the call is authenticated here, because a key
   * may be revoked while its body arrives.
   */
  dispatch: (request: RpcRequest, responder: Responder, admitted?: AdmittedRequest | null) => PendingCall;
  /** Counts an invalid request as one call of the rate limit and meters it without credits. */
  recordInvalidRequest: (
    invalidRequest: InvalidRequest,
    admitted?: AdmittedRequest | null,
  ) => InvalidRequestOutcome;
}>;

/**
 * Outcome of one dispatched call as a promise, which never rejects.
 * @param dispatch - starts the call with the given responder.
 * @param signal - cancels the call.
 */
export function outcomeOf(
  dispatch: (responder: Responder) => PendingCall,
  signal?: AbortSignal,
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const pending = dispatch({ respond: resolve });
  if (signal === undefined) return promise;
  const cancel = (): void => pending.cancel();
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', cancel));
}
