import { topicKey } from '../../../../src/protocol/pubsub/topic-key.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import { type Subscription, subscriptions } from '../../../../src/protocol/subscriptions.ts';
import type { LedgerNotifier } from '../../../../src/streams/ledger-notifier.ts';
import { Notification, type NotificationFrame } from '../../../../src/streams/notification.ts';

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
  readonly holders: Set<Subscriber>;
  end: () => void;
};

/**
 * Subscriptions of all connections. Equal ones share an id; ids start at 0 and are not reused. Source: Agave
 * rpc/src/rpc_subscription_tracker.rs, `SubscriptionControl`.
 */
export class SubscriptionRegistry {
  readonly #notifier: LedgerNotifier;
  readonly #subscriptionsMax: number;
  readonly #byKey = new Map<string, Topic>();
  readonly #byId = new Map<number, Topic>();
  #nextId = 0;
  /** Active subscriptions, counted per subscriber. */
  #held = 0;

  /** @param subscriptionsMax - Agave's `--rpc-pubsub-max-active-subscriptions`. */
  constructor(notifier: LedgerNotifier, subscriptionsMax: number) {
    this.#notifier = notifier;
    this.#subscriptionsMax = subscriptionsMax;
  }

  /**
   * Subscribes; a repeated call has no effect.
   * @param idle - parameters that do not affect notifications, but make subscriptions distinct.
   * @returns the id.
   * @throws RpcError -32603 at the limit.
   */
  subscribe(subscription: Subscription, holder: Subscriber, idle: string): number {
    if (this.#held >= this.#subscriptionsMax) {
      throw new RpcError(-32603, 'Internal Error: Subscription refused. Node subscription limit reached');
    }
    const key = `${topicKey(subscription)} ${idle}`;
    const topic = this.#byKey.get(key) ?? this.#open(key, subscription);
    if (!topic.holders.has(holder)) this.#held++;
    topic.holders.add(holder);
    return topic.id;
  }

  /** @returns false if there was no such subscription. */
  unsubscribe(id: number, holder: Subscriber): boolean {
    const topic = this.#byId.get(id);
    if (topic === undefined || !topic.holders.delete(holder)) return false;
    this.#held--;
    if (topic.holders.size === 0) this.#close(topic);
    return true;
  }

  #open(key: string, subscription: Subscription): Topic {
    const topic: Topic = {
      id: this.#nextId++,
      key,
      method: subscriptions[subscription.kind].notification,
      holders: new Set(),
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
    const holders = [...topic.holders];
    if (last) this.#close(topic);
    for (const holder of holders) holder.notify(topic.id, frame, last);
  }

  #close(topic: Topic): void {
    this.#held -= topic.holders.size;
    topic.holders.clear();
    this.#byId.delete(topic.id);
    this.#byKey.delete(topic.key);
    topic.end();
  }
}
