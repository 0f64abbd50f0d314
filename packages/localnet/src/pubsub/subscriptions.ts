import { topicKey } from '../../../../src/protocol/pubsub/topic-key.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import { type Subscription, subscriptions } from '../../../../src/protocol/subscriptions.ts';
import type { FeedListener } from '../../../../src/streams/feed.ts';
import { Notification, type NotificationFrame } from '../../../../src/streams/notification.ts';

type Notifier = Readonly<{ add(subscription: Subscription, listener: FeedListener): () => void }>;

/** Receives the notifications of its subscriptions: a connection. */
export interface Subscriber {
  /**
   * @param frame - complete WebSocket frame, shared by all subscribers.
   * @param last - whether the subscription has ended.
   */
  notify(id: number, frame: NotificationFrame, last: boolean): void;
}

type Topic = {
  readonly id: number;
  readonly key: string;
  readonly method: string;
  readonly subscribers: Set<Subscriber>;
  end: () => void;
};

/**
 * Subscriptions of all connections. Equal ones share an id; ids start at 0 and are not reused. Source: Agave
 * rpc/src/rpc_subscription_tracker.rs, `SubscriptionControl`.
 */
export class SubscriptionRegistry {
  readonly #notifier: Notifier;
  readonly #subscriptionsMax: number;
  readonly #byKey = new Map<string, Topic>();
  readonly #byId = new Map<number, Topic>();
  #nextId = 0;
  /** Active subscriptions, counted per subscriber. */
  #activeCount = 0;

  /** @param subscriptionsMax - Agave's `--rpc-pubsub-max-active-subscriptions`. */
  constructor(notifier: Notifier, subscriptionsMax: number) {
    this.#notifier = notifier;
    this.#subscriptionsMax = subscriptionsMax;
  }

  /**
   * Subscribes; a repeated call has no effect.
   * @param distinctParams - parameters that do not affect notifications, but make subscriptions distinct.
   * @returns the id.
   * @throws RpcError -32603 at the limit.
   */
  subscribe(subscription: Subscription, subscriber: Subscriber, distinctParams: string): number {
    if (this.#activeCount >= this.#subscriptionsMax) {
      throw new RpcError(-32603, 'Internal Error: Subscription refused. Node subscription limit reached');
    }
    const key = `${topicKey(subscription)} ${distinctParams}`;
    const topic = this.#byKey.get(key) ?? this.#open(key, subscription);
    if (!topic.subscribers.has(subscriber)) this.#activeCount++;
    topic.subscribers.add(subscriber);
    return topic.id;
  }

  /** @returns false if there was no such subscription. */
  unsubscribe(id: number, subscriber: Subscriber): boolean {
    const topic = this.#byId.get(id);
    if (topic === undefined || !topic.subscribers.delete(subscriber)) return false;
    this.#activeCount--;
    if (topic.subscribers.size === 0) this.#close(topic);
    return true;
  }

  #open(key: string, subscription: Subscription): Topic {
    const topic: Topic = {
      id: this.#nextId++,
      key,
      method: subscriptions[subscription.kind].notification,
      subscribers: new Set(),
      end: () => {},
    };
    this.#byKey.set(key, topic);
    this.#byId.set(topic.id, topic);
    topic.end = this.#notifier.add(subscription, {
      onNotification: (result, last) => this.#notify(topic, result, last),
      onError: () => this.#close(topic),
    });
    return topic;
  }

  #notify(topic: Topic, result: Buffer, last: boolean): void {
    const frame = new Notification(topic.method, result).frame(topic.id);
    const subscribers = [...topic.subscribers];
    if (last) this.#close(topic);
    for (const subscriber of subscribers) subscriber.notify(topic.id, frame, last);
  }

  #close(topic: Topic): void {
    this.#activeCount -= topic.subscribers.size;
    topic.subscribers.clear();
    this.#byId.delete(topic.id);
    this.#byKey.delete(topic.key);
    topic.end();
  }
}
