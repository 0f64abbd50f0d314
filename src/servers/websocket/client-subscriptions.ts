import type { Failure } from '../../protocol/errors.ts';
import type { SubscriptionKind } from '../../protocol/subscriptions.ts';
import type { Notification } from '../../streams/notification.ts';
import type { OpenSubscription, Subscriber } from '../../streams/session.ts';
import type { Peer } from './peer.ts';

/** The subscriptions of one connection by their ids, which count from 1 and are never used again. */
export class ClientSubscriptions {
  readonly #peer: Peer;
  readonly #open = new Map<number, ClientSubscription>();
  #lastId = 0;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  get size(): number {
    return this.#open.size;
  }

  /** One that is about to be opened; it has no id until it is. */
  create(kind: SubscriptionKind): ClientSubscription {
    return new ClientSubscription(kind, this.#peer, this);
  }

  /** Takes in what was opened. @returns its id. */
  add(subscription: ClientSubscription, opened: OpenSubscription): number {
    this.#lastId += 1;
    subscription.opened = opened;
    subscription.id = this.#lastId;
    this.#open.set(this.#lastId, subscription);
    return this.#lastId;
  }

  /** Ends one. @returns false when there is none of this id and kind. */
  end(id: bigint, kind: SubscriptionKind): boolean {
    const subscription = this.#open.get(Number(id));
    if (subscription?.kind !== kind) return false;
    this.remove(subscription.id);
    subscription.opened?.close();
    return true;
  }

  /** It is over. */
  remove(id: number): void {
    this.#open.delete(id);
  }

  /** The connection is over, and its session has ended them all. */
  clear(): void {
    this.#open.clear();
  }
}

/** One subscription of one connection. */
export class ClientSubscription implements Subscriber {
  readonly kind: SubscriptionKind;
  /** 0 until it is open. */
  id = 0;
  opened: OpenSubscription | null = null;
  readonly #peer: Peer;
  readonly #all: ClientSubscriptions;

  constructor(kind: SubscriptionKind, peer: Peer, all: ClientSubscriptions) {
    this.kind = kind;
    this.#peer = peer;
    this.#all = all;
  }

  onNotification(notification: Notification, last: boolean): void {
    if (last) this.#all.remove(this.id);
    this.#peer.sendNotification(notification.frame(this.id));
  }

  /** No message of the protocol says that a subscription is lost, so the connection goes with it. */
  onError(failure: Failure): void {
    this.#peer.end(failure);
  }
}
