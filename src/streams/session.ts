import type { Network } from '../protocol/call.ts';
import type { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import type { Caller, Outcome } from '../protocol/request-handler.ts';
import type { RpcError } from '../protocol/rpc-error.ts';
import type { Notification } from './notification.ts';

/** Limits of one connection, from the plan of its key. */
export type SessionLimits = Readonly<{
  subscriptionsMax: number;
  messageMaxBytes: number;
}>;

export interface Subscriber {
  /** `last`: the subscription ends with this notification. */
  onNotification(notification: Notification, last: boolean): void;
  /** The subscription failed. */
  onError(failure: Failure): void;
}

/** An opened subscription. Emits nothing before `start`, so that the acknowledgement goes first. */
export interface OpenSubscription {
  start(): void;
  /** Idempotent. */
  close(): void;
}

export type SubscribeOutcome = Readonly<
  | { opened: OpenSubscription; error: null }
  /** RpcError: invalid parameters, or rejected by a node. */
  | { opened: null; error: Failure | RpcError }
>;

/** Data queued for a slow client. */
export interface Backlog {
  readonly queuedMessages: number;
  readonly queuedBytes: number;
}

/** One authenticated connection. Its methods never reject. */
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
  /** Counts notification bytes passed to the socket; called per batch, not per message. */
  recordSent(messages: number, bytes: number): void;
  /**
   * Counts what came in, calls or not.
   * @returns milliseconds for which nothing more should be read; Infinity when the connection should end.
   */
  recordReceived(messages: number, bytes: number): number;
  setBacklog?(backlog: Backlog): void;
  /** The client was disconnected because it reads too slowly. */
  recordLagged?(): void;
  /** Ends every subscription; the connection still counts until `close`. */
  end(): void;
  /** Ends the session and releases its connection permit. */
  close(): void;
}

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
