import type { Failure } from '../../protocol/errors.ts';
import type { Subscription } from '../../protocol/subscriptions.ts';
import type { Notification } from '../../streams/notification.ts';
import type { OpenSubscription, Subscriber } from '../../streams/session.ts';

/** What may be held besides what a plan says. */
export type SubscriptionLimits = Readonly<{
  /** Subscriptions of a key family, open at a time in all its connections. */
  keySubscriptionsMax: number;
  /** Addresses in the subscriptions of a key family, in all its connections. */
  keyAddressesMax: number;
}>;

/** What a key family may hold when nothing else is said. */
export const subscriptionLimits: SubscriptionLimits = {
  keySubscriptionsMax: 5_000,
  keyAddressesMax: 200_000,
};

/** A subscription that takes one of the session's places until it is over. */
export class SessionSubscription implements OpenSubscription, Subscriber {
  opened: OpenSubscription | null = null;
  readonly #subscriber: Subscriber;
  readonly #release: (entry: SessionSubscription) => void;
  /** What it is to; null until that was read. */
  subscription: Subscription | null = null;
  /** Addresses that it holds. */
  addresses = 0;

  constructor(subscriber: Subscriber, release: (entry: SessionSubscription) => void) {
    this.#subscriber = subscriber;
    this.#release = release;
  }

  onNotification(notification: Notification, last: boolean): void {
    if (last) this.#release(this);
    this.#subscriber.onNotification(notification, last);
  }

  onError(failure: Failure): void {
    this.#release(this);
    this.#subscriber.onError(failure);
  }

  start(): void {
    this.opened?.start();
  }

  close(): void {
    this.#release(this);
    this.opened?.close();
  }
}
