import type { Failure } from '../../protocol/errors.ts';
import type { SubscriptionKind } from '../../protocol/subscriptions.ts';
import type { Notification } from '../../streams/notification.ts';
import type { OpenSubscription, Subscriber } from '../../streams/session.ts';
import type { Peer } from './peer.ts';

/** Subscriptions of one connection by id. Ids count from 1 and are not reused. */
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

  /** A subscription being opened; it has no id yet. */
  create(kind: SubscriptionKind): ClientSubscription {
    return new ClientSubscription(kind, this.#peer, this);
  }

  /** Adds an opened subscription. @returns its id. */
  add(subscription: ClientSubscription, opened: OpenSubscription): number {
    this.#lastId += 1;
    subscription.opened = opened;
    subscription.id = this.#lastId;
    this.#open.set(this.#lastId, subscription);
    return this.#lastId;
  }

  /** @returns false when there is none with this id and kind. */
  end(id: bigint, kind: SubscriptionKind): boolean {
    const subscription = this.#open.get(Number(id));
    if (subscription?.kind !== kind) return false;
    this.remove(subscription.id);
    subscription.opened?.close();
    return true;
  }

  remove(id: number): void {
    this.#open.delete(id);
  }

  /** For a closed connection, whose session has ended the subscriptions. */
  clear(): void {
    this.#open.clear();
  }
}

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

  /** The protocol has no message for a lost subscription, so the connection is closed. */
  onError(failure: Failure): void {
    this.#peer.end(failure);
  }
}
