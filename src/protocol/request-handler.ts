import type { Network, PendingCall, RpcResponse } from './call.ts';
import type { ClientInfo } from './client-info.ts';
import type { Failure } from './errors.ts';
import type { Product } from './product.ts';
import { canceledBy } from './rpc-dispatcher.ts';
import type { StreamedResponse } from './streamed-response.ts';

export type Caller = Readonly<{
  /** API key as sent; null if absent. Used for authentication only. */
  credential: string | null;
  client: ClientInfo;
  /** W3C Trace Context header. */
  traceparent?: string | null | undefined;
  /** Session for monotonic reads. */
  session?: string | null | undefined;
  /** Unvalidated. Absent or null: the default network. */
  network?: string | null | undefined;
}>;

type MeteredRequest = Omit<Caller, 'network'> &
  Readonly<{ product: Product; network: Network; bytesIn: number }>;

export type RpcRequest = MeteredRequest &
  Readonly<{
    method: string;
    /** Raw JSON. */
    params: Buffer | null;
    /** Size of the response's id, for metering. */
    idBytes: number;
  }>;

/** Malformed body, invalid call, notification or empty batch. */
export type InvalidRequest = Omit<MeteredRequest, 'network'> &
  Readonly<{
    /** null if the network that the request names is not served. */
    network: Network | null;
    /** null for a valid request that contains no call. */
    fault: Failure | null;
    /** null if there is no response. */
    idBytes: number | null;
  }>;

/** Sent as RateLimit headers. */
export type RateLimitState = Readonly<{
  limit: number;
  remaining: number;
  windowSeconds: number;
  resetSeconds: number;
}>;

export type LimitStatus = Readonly<{
  rateLimit: RateLimitState | null;
  /** Monthly credits. */
  quota?: RateLimitState | null;
}>;

export type Outcome = Readonly<
  { response: RpcResponse; failure: null } | { response: null; failure: Failure }
> &
  LimitStatus;

/** `failure`: what is invalid, or why the request was not admitted; null if neither applies. */
export type InvalidRequestOutcome = Readonly<{ failure: Failure | null }> & LimitStatus;

/** Must not throw. May be called before `dispatch` returns. */
export interface Responder {
  /** Called once. */
  respond(outcome: Outcome): void;
  readonly stream?: StreamResponder | null;
}

/** The request ends when the streamed response ends. */
export interface StreamResponder {
  respondStream(response: StreamedResponse, limits: LimitStatus): void;
}

/** Opaque to servers. Valid only in the event loop turn in which `admit` returned it. */
export type AdmittedRequest = Readonly<{ startedAt: number }>;

export type RequestHandler = Readonly<{
  /** Authenticates before the body is read, so that unauthenticated clients use no memory. Meters rejections. */
  admit: (caller: Caller, product: Product, network: Network | null) => AdmittedRequest | Failure;
  /**
   * Never throws: failures are outcomes. Authenticates the call if `admitted` is absent or from an earlier event loop
   * turn, because the key may have been revoked while the body arrived.
   */
  dispatch: (request: RpcRequest, responder: Responder, admitted?: AdmittedRequest | null) => PendingCall;
  /** An invalid request counts toward the rate limit as one call and costs no credits. */
  recordInvalidRequest: (
    invalidRequest: InvalidRequest,
    admitted?: AdmittedRequest | null,
  ) => InvalidRequestOutcome;
}>;

/** Never rejects. */
export function outcomeOf(
  dispatch: (responder: Responder) => PendingCall,
  signal?: AbortSignal,
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const pending = dispatch({ respond: resolve });
  return canceledBy(signal, pending, promise);
}
