import type { Failure } from '../protocol/errors.ts';
import type { RpcError } from '../protocol/rpc-error.ts';
import type { Subscription } from '../protocol/subscriptions.ts';

export interface FeedListener {
  /** `result`: raw JSON of `params.result`, shared and never modified. `isLast`: no notification follows. */
  onNotification(result: Buffer, isLast: boolean): void;
  onError(failure: Failure): void;
}

export interface Feed {
  /**
   * The subscription covers everything that happens after the promise resolves; notifications may start earlier. The
   * promise resolves to an idempotent function that ends the subscription.
   * @throws Failure UPSTREAM_UNAVAILABLE; RpcError if a node rejects the subscription.
   */
  open(subscription: Subscription, listener: FeedListener): Promise<() => void>;
}

export type FeedError = Failure | RpcError;
