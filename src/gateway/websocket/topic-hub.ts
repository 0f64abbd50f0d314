import { Failure } from '../../protocol/errors.ts';
import { topicKey } from '../../protocol/pubsub/topic-key.ts';
import { type Subscription, subscriptions } from '../../protocol/subscriptions.ts';
import type { Feed, FeedListener } from '../../streams/feed.ts';
import { Notification } from '../../streams/notification.ts';
import type { OpenSubscription, Subscriber } from '../../streams/session.ts';

export type TopicHubOptions = Readonly<{
  /** Maximum open topics; above it, a new one gets OVERLOADED. */
  topicsMax: number;
  /** Maximum addresses in open topics; above it, a new one gets OVERLOADED. */
  addressesMax: number;
  /** Maximum open topics without a subscriber; above it, the longest idle are closed. */
  idleMax: number;
  /** How long a topic stays open without a subscriber, so that a reconnect costs nothing upstream. */
  graceMs: number;
  /** Time for the feed to open a subscription. */
  openTimeoutMs: number;
  /** Notifications buffered for a subscriber whose acknowledgement is not sent yet. */
  bufferedMax: number;
}>;

export const topicHubOptions: TopicHubOptions = {
  topicsMax: 100_000,
  addressesMax: 1_000_000,
  idleMax: 1_000,
  graceMs: 5_000,
  openTimeoutMs: 15_000,
  bufferedMax: 1_024,
};

/** Idle topics closed at once when the feed is at its limit. */
const IDLE_CLOSED_MAX = 16;

/** Addresses that a subscription holds in memory, at least 1. The lists of `transaction` may be long. */
export function countAddresses(subscription: Subscription): number {
  if (subscription.kind !== 'transaction') return 1;
  const { include, exclude, required } = subscription.filter;
  return Math.max(1, include.length + exclude.length + required.length);
}

/** Shares one feed subscription, a topic, between all equal subscriptions of clients. */
export class TopicHub {
  readonly #feed: Feed;
  readonly #options: TopicHubOptions;
  readonly #topics = new Map<string, Topic>();
  /** Topics without subscribers, longest idle first, with their close timers. */
  readonly #idle = new Map<Topic, NodeJS.Timeout>();
  #addresses = 0;

  constructor(feed: Feed, options: Partial<TopicHubOptions> = {}) {
    this.#feed = feed;
    this.#options = { ...topicHubOptions, ...options };
  }

  /** Topics that are open or being opened. */
  get size(): number {
    return this.#topics.size;
  }

  /**
   * Subscribes. Notifications are buffered until `start` of the returned subscription.
   * @throws Failure OVERLOADED, UPSTREAM_TIMEOUT; what `Feed.open` throws, for everyone who waited for it.
   */
  async join(subscription: Subscription, subscriber: Subscriber): Promise<OpenSubscription> {
    const topic = this.#topicOf(subscription);
    const member = topic.add(subscriber);
    clearTimeout(this.#idle.get(topic));
    this.#idle.delete(topic);
    await topic.open(this.#feed);
    return member;
  }

  onIdle(topic: Topic): void {
    this.#idle.set(
      topic,
      setTimeout(() => topic.close(), this.#options.graceMs),
    );
    if (this.#idle.size > this.#options.idleMax) this.#closeIdle();
  }

  /** Closes some idle topics because the feed is at its limit. @returns whether there were any. */
  freeCapacity(): boolean {
    let closed = 0;
    while (closed < IDLE_CLOSED_MAX && this.#closeIdle()) closed += 1;
    return closed > 0;
  }

  onEnd(topic: Topic): void {
    clearTimeout(this.#idle.get(topic));
    this.#idle.delete(topic);
    if (this.#topics.get(topic.key) !== topic) return;
    this.#topics.delete(topic.key);
    this.#addresses -= topic.addresses;
  }

  /** Closes every topic without notifying subscribers. */
  close(): void {
    for (const topic of [...this.#topics.values()]) topic.close();
  }

  #topicOf(subscription: Subscription): Topic {
    const key = topicKey(subscription);
    const existing = this.#topics.get(key);
    if (existing !== undefined) return existing;
    const topic = new Topic(key, subscription, this, this.#options);
    this.#ensureCapacity(topic);
    this.#topics.set(key, topic);
    this.#addresses += topic.addresses;
    return topic;
  }

  #hasCapacityFor({ addresses }: Topic): boolean {
    const { topicsMax, addressesMax } = this.#options;
    // Long address lists of others must not lock out topics of one address, which `topicsMax` bounds.
    const fits = addresses <= 1 || this.#addresses + addresses <= addressesMax;
    return this.#topics.size < topicsMax && fits;
  }

  #ensureCapacity(topic: Topic): void {
    while (!this.#hasCapacityFor(topic)) {
      if (!this.#closeIdle()) throw new Failure('OVERLOADED', { cause: 'topic limit reached' });
    }
  }

  /** Closes the longest idle topic. @returns whether there was one. */
  #closeIdle(): boolean {
    const [longest] = this.#idle.keys();
    longest?.close();
    return longest !== undefined;
  }
}

/** One feed subscription and its subscribers. Each notification is encoded once for all of them. */
export class Topic implements FeedListener {
  readonly key: string;
  readonly #subscription: Subscription;
  readonly #hub: Pick<TopicHub, 'onIdle' | 'onEnd' | 'freeCapacity'>;
  readonly #options: Pick<TopicHubOptions, 'openTimeoutMs' | 'bufferedMax'>;
  readonly #subscribers = new Set<TopicSubscriber>();
  #opened: Promise<void> | null = null;
  #closeFeed: (() => void) | null = null;
  #isEnded = false;
  /** "receivedSignature", for subscribers that join after it. */
  #received: Notification | null = null;

  constructor(
    key: string,
    subscription: Subscription,
    hub: Pick<TopicHub, 'onIdle' | 'onEnd' | 'freeCapacity'>,
    options: Pick<TopicHubOptions, 'openTimeoutMs' | 'bufferedMax'>,
  ) {
    this.key = key;
    this.#subscription = subscription;
    this.#hub = hub;
    this.#options = options;
  }

  get addresses(): number {
    return countAddresses(this.#subscription);
  }

  /** Number of subscribers. */
  get size(): number {
    return this.#subscribers.size;
  }

  add(subscriber: Subscriber): TopicSubscriber {
    const member = new TopicSubscriber(this, subscriber, this.#options.bufferedMax);
    this.#subscribers.add(member);
    if (this.#received !== null) member.notify(this.#received, false);
    return member;
  }

  remove(member: TopicSubscriber): void {
    if (this.#subscribers.delete(member) && this.#subscribers.size === 0 && !this.#isEnded)
      this.#hub.onIdle(this);
  }

  /**
   * Opens the feed subscription once.
   * @throws Failure UPSTREAM_TIMEOUT, and what `Feed.open` throws.
   */
  open(feed: Feed): Promise<void> {
    this.#opened ??= this.#open(feed);
    return this.#opened;
  }

  #open(feed: Feed): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (reason: unknown): void => {
        clearTimeout(timer);
        this.#finish();
        reject(reason);
      };
      const timer = setTimeout(() => fail(new Failure('UPSTREAM_TIMEOUT')), this.#options.openTimeoutMs);
      this.#openWithRetry(feed).then((end) => {
        clearTimeout(timer);
        if (this.#isEnded) end();
        else this.#closeFeed = end;
        resolve();
      }, fail);
    });
  }

  async #openWithRetry(feed: Feed): Promise<() => void> {
    try {
      return await feed.open(this.#subscription, this);
    } catch (thrown) {
      const isFull = thrown instanceof Failure && thrown.code === 'OVERLOADED';
      if (!isFull || this.#isEnded || !this.#hub.freeCapacity()) throw thrown;
      return feed.open(this.#subscription, this);
    }
  }

  onNotification(result: Buffer, last: boolean): void {
    if (this.#isEnded) return;
    if (last) this.#finish();
    else if (this.#subscribers.size === 0 && this.#subscription.kind !== 'signature') return;
    const notification = new Notification(subscriptions[this.#subscription.kind].notification, result);
    if (!last && this.#subscription.kind === 'signature') this.#received = notification;
    for (const member of this.#subscribers) member.notify(notification, last);
    if (last) this.#subscribers.clear();
  }

  onError(failure: Failure): void {
    if (this.#isEnded) return;
    this.#finish();
    for (const member of this.#subscribers) member.fail(failure);
    this.#subscribers.clear();
  }

  /** Closes the feed subscription. */
  close(): void {
    if (this.#isEnded) return;
    this.#finish();
    this.#closeFeed?.();
  }

  #finish(): void {
    this.#isEnded = true;
    this.#hub.onEnd(this);
  }
}

type BufferedNotification = Readonly<{ notification: Notification; last: boolean }>;

/** One subscriber of a topic. Buffers notifications until its acknowledgement is sent. */
export class TopicSubscriber implements OpenSubscription {
  readonly #topic: Topic;
  readonly #subscriber: Subscriber;
  readonly #bufferedMax: number;
  /** Null after `start`. */
  #buffered: BufferedNotification[] | null = [];
  #failure: Failure | null = null;
  #closed = false;

  constructor(topic: Topic, subscriber: Subscriber, bufferedMax: number) {
    this.#topic = topic;
    this.#subscriber = subscriber;
    this.#bufferedMax = bufferedMax;
  }

  notify(notification: Notification, last: boolean): void {
    if (this.#buffered === null) this.#subscriber.onNotification(notification, last);
    else if (this.#buffered.length < this.#bufferedMax) this.#buffered.push({ notification, last });
    else
      this.#failure ??= new Failure('OVERLOADED', {
        cause: 'notification buffer full before the subscription was confirmed',
      });
  }

  fail(failure: Failure): void {
    if (this.#buffered === null) this.#subscriber.onError(failure);
    else this.#failure ??= failure;
  }

  start(): void {
    const buffered = this.#buffered ?? [];
    this.#buffered = null;
    for (const { notification, last } of buffered) {
      if (this.#closed) return;
      this.#subscriber.onNotification(notification, last);
    }
    if (this.#failure !== null && !this.#closed) this.#subscriber.onError(this.#failure);
  }

  close(): void {
    this.#closed = true;
    this.#topic.remove(this);
  }
}
