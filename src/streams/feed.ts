import type { Failure } from '../protocol/errors.ts';
import type { RpcError } from '../protocol/rpc-error.ts';
import type { Subscription } from '../protocol/subscriptions.ts';

export interface FeedListener {
  /**
   * @param result - raw JSON of `params.result`; shared and never modified.
   * @param isLast - the subscription ends with this notification, as for a signature.
   */
  onNotification(result: Buffer, isLast: boolean): void;
  /** The subscription failed; nothing follows. */
  onError(failure: Failure): void;
}

/** Source of subscriptions. */
export interface Feed {
  /**
   * Opens a subscription. Covers everything after the promise resolves; the listener may be called earlier.
   * @returns a function that ends it; idempotent.
   * @throws Failure UPSTREAM_UNAVAILABLE; RpcError when a node rejects it.
   */
  open(subscription: Subscription, listener: FeedListener): Promise<() => void>;
}

export type FeedError = Failure | RpcError;
