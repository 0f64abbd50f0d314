import type { IpAddress } from '../base/ip-address.ts';
import type { Network, PendingCall, RpcResponse } from './call.ts';
import type { Failure } from './errors.ts';
import type { Product } from './product.ts';
import type { StreamedResponse } from './streamed-response.ts';

/** Where a request came from, as the listener saw it. */
export type ClientInfo = Readonly<{
  /** The address in its usual form; behind trusted proxies that of whoever asked them. Empty: it was gone already. */
  address: string;
  /** The same, to be compared; null where `address` is empty. */
  ip: IpAddress | null;
  /** The address is that of a trusted proxy, which did not say for whom it asks: many may be behind it. */
  isProxy: boolean;
  /** The web page's origin, as the browser says it. */
  origin: string | null;
}>;

/** Whoever asks: what they show, and where they are. */
export type Caller = Readonly<{
  /** The API key as it was sent; null when none was. Goes no further than authentication. */
  credential: string | null;
  client: ClientInfo;
  /** The header of that name, which says in whose trace the request belongs; absent or null for none. */
  traceparent?: string | null | undefined;
  /** Names the requests that must not see the chain go back, one after the other; absent or null: it may. */
  session?: string | null | undefined;
  /** What the query parameter `network` says, unchecked; absent or null: the default network is meant. */
  network?: string | null | undefined;
}>;

/** One call as a server hands it to the pipeline. */
export type RpcRequest = Omit<Caller, 'network'> &
  Readonly<{
    product: Product;
    network: Network;
    method: string;
    /** Raw JSON text of `params`; null when absent. */
    params: Buffer | null;
    /** Bytes the call took on the wire, for metering. */
    bytesIn: number;
    /** Bytes of the id that its answer will carry, for metering. */
    idBytes: number;
  }>;

/**
 * What came of somebody and is no call that could be made: a body that cannot be read, a faulty call, one that wants no
 * answer, a batch of nothing.
 */
export type InvalidRequest = Omit<Caller, 'network'> &
  Readonly<{
    product: Product;
    network: Network;
    /** Why it is none; null where nothing is wrong with it. */
    fault: Failure | null;
    /** Bytes it took on the wire, for metering. */
    bytesIn: number;
    /** Bytes of the id under which it is told what is wrong, for metering; null: it is told nothing. */
    idBytes: number | null;
  }>;

/** Where the caller stands with the limit that was counted; shown as RateLimit headers. */
export type RateLimitState = Readonly<{
  limit: number;
  remaining: number;
  windowSeconds: number;
  resetSeconds: number;
}>;

/** Where the caller stands with all that is shown of limits. */
export type LimitStatus = Readonly<{
  rateLimit: RateLimitState | null;
  /** Credits of the month, where the plan has a quota. */
  quota?: RateLimitState | null;
}>;

export type Outcome = Readonly<
  { response: RpcResponse; failure: null } | { response: null; failure: Failure }
> &
  LimitStatus;

/** What is to be said to what is no call: its fault, or why it was not let in; null: nothing. */
export type InvalidRequestOutcome = Readonly<{ failure: Failure | null }> & LimitStatus;

/** Hears how a request ended, once; it may be before `put` has returned. Must not throw. */
export interface Responder {
  respond(outcome: Outcome): void;
  /** Takes a long result while it comes. Absent or null: every answer is had whole. */
  readonly stream?: StreamResponder | null;
}

/** Hears of a long result in place of `replied`: the request has been let in, and ends with the answer. */
export interface StreamResponder {
  respondStream(response: StreamedResponse, limits: LimitStatus): void;
}

/** State of an admitted request, opaque to servers. Valid only within the same turn of the event loop. */
export type AdmittedRequest = Readonly<{ startedAt: number }>;

/** Request handling behind a JSON-RPC server. */
export type RequestHandler = Readonly<{
  /**
   * Authenticates a caller, and meters the request if it is refused. Called before the body is read, so that
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
  /** Counts an invalid request against the rate as one call and meters it, at no credits. @param admitted - as for `dispatch`. */
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
