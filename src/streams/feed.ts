import type { Failure } from '../protocol/errors.ts';
import type { RpcError } from '../protocol/rpc-error.ts';
import type { Subscription } from '../protocol/subscriptions.ts';

export interface FeedListener {
  /** `result` is the raw JSON of `params.result`, shared and never modified. `isLast`: nothing follows. */
  onNotification(result: Buffer, isLast: boolean): void;
  onError(failure: Failure): void;
}

export interface Feed {
  /**
   * Covers everything after the promise resolves; may notify earlier. The returned function ends it,
   * idempotently.
   * @throws Failure UPSTREAM_UNAVAILABLE; RpcError when a node rejects it.
   */
  open(subscription: Subscription, listener: FeedListener): Promise<() => void>;
}

export type FeedError = Failure | RpcError;
