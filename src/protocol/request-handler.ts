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

/** The way of a request, as servers see it. Never rejects: what went wrong is in the outcome. */
export type ServeFunction = (request: RpcRequest, signal?: AbortSignal) => Promise<Outcome>;

/** That somebody was let in, for a call that follows in the same turn of the event loop. */
export type AdmittedRequest = Readonly<{ startedAt: number }>;

/** What stands behind a server: who may come in at all, and the way of each of their calls. */
export type RequestHandler = Readonly<{
  /**
   * Looks at a key before anything of the body is read, so that strangers take up no room. Meters who is refused.
   * Each call is authenticated all the same: a key may be revoked while its body arrives.
   * @returns why this caller may not come in; null when they may.
   */
  admit: (caller: Caller, product: Product, network: Network | null) => Failure | null;
  /** The same where the body is there already: who was let in so need not be asked again with `put`. */
  preAdmit: (caller: Caller, product: Product, network: Network) => AdmittedRequest | Failure;
  serve: ServeFunction;
  /** The same without a promise, for doors that make nothing for a request but its answer. */
  dispatch: (request: RpcRequest, responder: Responder, admitted?: AdmittedRequest | null) => PendingCall;
  /** Takes it from the limits as one call, and meters it, at no credits. @param entered - as of `put`. */
  recordInvalidRequest: (
    invalidRequest: InvalidRequest,
    admitted?: AdmittedRequest | null,
  ) => InvalidRequestOutcome;
}>;
