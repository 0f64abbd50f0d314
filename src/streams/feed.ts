import type { Failure } from '../protocol/errors.ts';
import type { RpcError } from '../protocol/rpc-error.ts';
import type { Subscription } from '../protocol/subscriptions.ts';

/** Whoever hears what a subscription tells. */
export interface FeedListener {
  /**
   * One notification.
   * @param result - raw JSON of `params.result`. Never modified afterwards: all subscribers share it.
   * @param last - the subscription has told all it will (a signature that reached its commitment).
   */
  onNotification(result: Buffer, last: boolean): void;
  /** The feed cannot go on: nothing more comes. */
  onError(failure: Failure): void;
}

/** Where subscriptions are fed from, each opened once for all that ask the same. */
export interface Feed {
  /**
   * Begins to feed a subscription. What happens after the promise is kept is told; the listener may hear sooner.
   * @returns what ends it; harmless when it is over.
   * @throws Failure UPSTREAM_UNAVAILABLE when nobody can feed it; RpcError with a node's own refusal.
   */
  open(subscription: Subscription, listener: FeedListener): Promise<() => void>;
}

/** What `open` rejects with. */
export type FeedError = Failure | RpcError;
