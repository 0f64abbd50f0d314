import type { Network } from '../protocol/call.ts';
import type { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import type { Caller, Outcome } from '../protocol/request-handler.ts';
import type { RpcError } from '../protocol/rpc-error.ts';
import type { Notification } from './notification.ts';

/** What one connection may do; from its key's plan. */
export type SessionLimits = Readonly<{
  /** Subscriptions open at a time. */
  subscriptionsMax: number;
  /** Bytes of one message from the client. */
  messageMaxBytes: number;
}>;

/** One subscription of one connection. */
export interface Subscriber {
  /** `last`: the subscription is over with this one, and its id with it. */
  onNotification(notification: Notification, last: boolean): void;
  /** Nothing more comes of it, and not because of the client. */
  onError(failure: Failure): void;
}

/** An opened subscription. Nothing is told before `start`, so that the acknowledgement goes out first. */
export interface OpenSubscription {
  start(): void;
  /** Ends it. Harmless when it is over. */
  close(): void;
}

/** What came of a request to subscribe. */
export type SubscribeOutcome = Readonly<
  | { opened: OpenSubscription; error: null }
  /** RpcError: the parameters are wrong, or a node refused. */
  | { opened: null; error: Failure | RpcError }
>;

/** What waits on a connection because its client reads slowly. */
export interface Backlog {
  readonly queuedMessages: number;
  readonly queuedBytes: number;
}

/** One authenticated connection of a customer. Its methods never reject. */
export interface Session {
  readonly limits: SessionLimits;
  /** An ordinary JSON-RPC call over the connection. @param idBytes - of the id that its answer will carry, for metering. */
  call(
    method: string,
    params: Buffer | null,
    bytesIn: number,
    idBytes: number,
    signal: AbortSignal,
  ): Promise<Outcome>;
  /**
   * Takes what is no call that could be made from the limits as one, and meters it, at no credits.
   * @param fault - why it is none; null where nothing is wrong with it.
   * @param idBytes - of the id under which it is told what is wrong; null: it is told nothing.
   * @returns what is to be said to it: its fault, or why it was not let in; null: nothing.
   */
  recordInvalidRequest(fault: Failure | null, bytesIn: number, idBytes: number | null): Failure | null;
  /**
   * @param method - a `…Subscribe` of protocol/subscriptions.ts.
   * @param params - raw JSON, null when absent.
   */
  subscribe(
    method: string,
    params: Buffer | null,
    bytesIn: number,
    subscriber: Subscriber,
  ): Promise<SubscribeOutcome>;
  /** Counts bytes of notifications that were handed to the socket; called in blocks, not per message. */
  recordSent(messages: number, bytes: number): void;
  /**
   * Counts what came in, calls or not.
   * @returns milliseconds for which nothing more should be read; Infinity when the connection should end.
   */
  recordReceived(messages: number, bytes: number): number;
  /** Says where it can be seen what waits for the client. */
  setBacklog?(backlog: Backlog): void;
  /** The client is cut off because it reads too slowly. */
  recordLagged?(): void;
  /** Ends every subscription; the place is still taken, as long as the socket is not closed. */
  end(): void;
  /** Ends, and gives the connection's place back. */
  close(): void;
}

/** What stands behind a server of long connections. */
export interface WebSocketHandler {
  /**
   * Checks a key and takes one of the places for connections that its plan has.
   * @param onEnd - called once when the key no longer holds (revoked, expired, disabled, or by new rules not for this
   * caller).
   * @throws Failure TOO_MANY_WRONG_KEYS, MISSING_KEY, INVALID_KEY, UNAUTHORIZED_PRODUCT, KEYS_UNAVAILABLE,
   * NETWORK_FORBIDDEN, ADDRESS_FORBIDDEN, ORIGIN_FORBIDDEN, QUOTA_EXCEEDED, RATE_LIMITED, CONNECTION_LIMIT.
   */
  connect(caller: Caller, product: Product, network: Network, onEnd: (failure: Failure) => void): Session;
}
