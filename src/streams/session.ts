import type { Network } from '../protocol/call.ts';
import type { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import type { Caller, Outcome } from '../protocol/request-handler.ts';
import type { RpcError } from '../protocol/rpc-error.ts';
import type { Notification } from './notification.ts';

export type SessionLimits = Readonly<{ subscriptionsMax: number; messageMaxBytes: number }>;

export interface Subscriber {
  onNotification(notification: Notification, isLast: boolean): void;
  onError(failure: Failure): void;
}

/** Emits nothing before `start`, so that the acknowledgment is sent first. */
export interface OpenSubscription {
  start(): void;
  /** Idempotent. */
  close(): void;
}

export type SubscribeOutcome = Readonly<
  | { opened: OpenSubscription; error: null }
  /** RpcError: invalid parameters, or a rejection by a node. */
  | { opened: null; error: Failure | RpcError }
>;

export interface Backlog {
  readonly queuedMessages: number;
  readonly queuedBytes: number;
}

/** One authenticated connection. Its methods never reject. */
export interface Session {
  readonly limits: SessionLimits;
  /** A JSON-RPC call over the connection. @param idBytes - size of the call's id, for metering. */
  call(
    method: string,
    params: Buffer | null,
    bytesIn: number,
    idBytes: number,
    signal: AbortSignal,
  ): Promise<Outcome>;
  /**
   * Rate-limits and meters input that is not a call. Such input costs no credits. `idBytes` is null if no response is
   * sent. Returns the error to send: `fault`, which is null for valid input, or the reason why the input was rejected.
   */
  recordInvalidRequest(fault: Failure | null, bytesIn: number, idBytes: number | null): Failure | null;
  /** `method`: a `…Subscribe` method from protocol/subscriptions.ts. `params`: raw JSON. */
  subscribe(
    method: string,
    params: Buffer | null,
    bytesIn: number,
    subscriber: Subscriber,
  ): Promise<SubscribeOutcome>;
  /** Records what was passed to the socket. Called per batch, not per message. */
  recordSent(messages: number, bytes: number): void;
  /** Returns how many milliseconds to pause reading; Infinity to close the connection. */
  recordReceived(messages: number, bytes: number): number;
  setBacklog?(backlog: Backlog): void;
  /** Called when the client was disconnected because it reads too slowly. */
  recordLagged?(): void;
  /** Ends every subscription. The connection counts toward the connection limit until `close`. */
  end(): void;
  /** Ends the session and releases its connection permit. */
  close(): void;
}

export interface WebSocketHandler {
  /**
   * Acquires a connection permit. `onEnd` is called at most once, when the key becomes invalid or excludes the caller.
   * @throws Failure TOO_MANY_WRONG_KEYS, MISSING_KEY, INVALID_KEY, UNAUTHORIZED_PRODUCT, KEYS_UNAVAILABLE,
   * NETWORK_FORBIDDEN, ADDRESS_FORBIDDEN, ORIGIN_FORBIDDEN, QUOTA_EXCEEDED, RATE_LIMITED, CONNECTION_LIMIT.
   */
  connect(caller: Caller, product: Product, network: Network, onEnd: (failure: Failure) => void): Session;
}
