import type { Failure } from '../protocol/errors.ts';
import type { Subscription } from '../protocol/subscriptions.ts';
import type { Notification } from '../streams/notification.ts';
import type { OpenSubscription, Subscriber } from '../streams/session.ts';

/** What may be held besides what a plan says. */
export type HoldingLimits = Readonly<{
  /** Subscriptions of a key family, open at a time in all its connections. */
  keySubscriptionsMax: number;
  /** Addresses in the subscriptions of a key family, in all its connections. */
  keyAddressesMax: number;
}>;

/** What a key family may hold when nothing else is said. */
export const holdingLimits: HoldingLimits = { keySubscriptionsMax: 5_000, keyAddressesMax: 200_000 };

/** A subscription that takes one of the session's places until it is over. */
export class Held implements OpenSubscription, Subscriber {
  opened: OpenSubscription | null = null;
  readonly #subscriber: Subscriber;
  readonly #release: (held: Held) => void;
  /** What it is to; null until that was read. */
  subscription: Subscription | null = null;
  /** Addresses that it holds. */
  addresses = 0;

  constructor(subscriber: Subscriber, release: (held: Held) => void) {
    this.#subscriber = subscriber;
    this.#release = release;
  }

  notify(notification: Notification, last: boolean): void {
    if (last) this.#release(this);
    this.#subscriber.notify(notification, last);
  }

  fail(failure: Failure): void {
    this.#release(this);
    this.#subscriber.fail(failure);
  }

  start(): void {
    this.opened?.start();
  }

  close(): void {
    this.#release(this);
    this.opened?.close();
  }
}
