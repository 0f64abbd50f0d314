import { Failure } from '../../protocol/errors.ts';
import { topicKey } from '../../protocol/pubsub/topic-key.ts';
import { type Subscription, subscriptions } from '../../protocol/subscriptions.ts';
import type { Feed, FeedListener } from '../../streams/feed.ts';
import { Notification } from '../../streams/notification.ts';
import type { OpenSubscription, Subscriber } from '../../streams/session.ts';

export const topicHubOptions = {
  /** Maximum number of open topics; further topics get OVERLOADED. */
  topicsMax: 100_000,
  /** Maximum number of addresses in open topics; further topics with several addresses get OVERLOADED. */
  addressesMax: 1_000_000,
  /** Maximum number of open topics without a subscriber; above this, the longest idle are closed. */
  idleMax: 1_000,
  /** How long a topic stays open without a subscriber, so that a reconnect costs nothing upstream. */
  graceMs: 5_000,
  openTimeoutMs: 15_000,
  /** Maximum number of notifications buffered per subscriber until its subscription is acknowledged. */
  bufferedMax: 1_024,
};

export type TopicHubOptions = Readonly<typeof topicHubOptions>;

/** Maximum number of idle topics to close per attempt to free capacity. */
const IDLE_EVICTION_BATCH = 16;

/** Returns 1, or more for a `transaction` subscription, whose address lists may be long. */
export function countAddresses(subscription: Subscription): number {
  if (subscription.kind !== 'transaction') return 1;
  const { include, exclude, required } = subscription.filter;
  return Math.max(1, include.length + exclude.length + required.length);
}

/** Multiplexes identical client subscriptions onto one feed subscription (a topic). */
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

  get size(): number {
    return this.#topics.size;
  }

  /** Buffers notifications until the result's `start` is called. @throws Failure OVERLOADED, or as `Topic.open`. */
  async join(subscription: Subscription, subscriber: Subscriber): Promise<OpenSubscription> {
    const topic = this.#getOrCreateTopic(subscription);
    const topicSubscriber = topic.add(subscriber);
    clearTimeout(this.#idle.get(topic));
    this.#idle.delete(topic);
    await topic.open(this.#feed);
    return topicSubscriber;
  }

  onIdle(topic: Topic): void {
    const timer = setTimeout(() => topic.close(), this.#options.graceMs);
    this.#idle.set(topic, timer);
    if (this.#idle.size > this.#options.idleMax) this.#closeIdle();
  }

  /** Closes idle topics when the feed is at its limit. @returns whether any were closed. */
  freeCapacity(): boolean {
    let closed = 0;
    while (closed < IDLE_EVICTION_BATCH && this.#closeIdle()) closed += 1;
    return closed > 0;
  }

  onEnd(topic: Topic): void {
    clearTimeout(this.#idle.get(topic));
    this.#idle.delete(topic);
    if (this.#topics.get(topic.key) !== topic) return;
    this.#topics.delete(topic.key);
    this.#addresses -= topic.addresses;
  }

  /** Closes all topics without notifying subscribers. */
  close(): void {
    for (const topic of [...this.#topics.values()]) topic.close();
  }

  #getOrCreateTopic(subscription: Subscription): Topic {
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
    // A topic with one address is limited only by `topicsMax`, so that long address lists cannot block it.
    const fits = addresses <= 1 || this.#addresses + addresses <= addressesMax;
    return this.#topics.size < topicsMax && fits;
  }

  #ensureCapacity(topic: Topic): void {
    while (!this.#hasCapacityFor(topic)) {
      if (!this.#closeIdle()) throw new Failure('OVERLOADED', { cause: 'topic or address limit reached' });
    }
  }

  #closeIdle(): boolean {
    const [longest] = this.#idle.keys();
    longest?.close();
    return longest !== undefined;
  }
}

/** One feed subscription and its subscribers. Each notification is encoded once for all subscribers. */
export class Topic implements FeedListener {
  readonly key: string;
  readonly #subscription: Subscription;
  readonly #hub: TopicHub;
  readonly #options: TopicHubOptions;
  readonly #subscribers = new Set<TopicSubscriber>();
  #opened: Promise<void> | null = null;
  #closeFeed: (() => void) | null = null;
  #isEnded = false;
  /** The "receivedSignature" notification, for subscribers that join later. */
  #receivedSignature: Notification | null = null;

  constructor(key: string, subscription: Subscription, hub: TopicHub, options: TopicHubOptions) {
    this.key = key;
    this.#subscription = subscription;
    this.#hub = hub;
    this.#options = options;
  }

  get addresses(): number {
    return countAddresses(this.#subscription);
  }

  add(subscriber: Subscriber): TopicSubscriber {
    const topicSubscriber = new TopicSubscriber(this, subscriber, this.#options.bufferedMax);
    this.#subscribers.add(topicSubscriber);
    if (this.#receivedSignature !== null) topicSubscriber.notify(this.#receivedSignature, false);
    return topicSubscriber;
  }

  remove(subscriber: TopicSubscriber): void {
    if (this.#subscribers.delete(subscriber) && this.#subscribers.size === 0 && !this.#isEnded)
      this.#hub.onIdle(this);
  }

  /** A failure rejects every pending join. @throws Failure UPSTREAM_TIMEOUT, or the error from `Feed.open`. */
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

  onNotification(result: Buffer, isLast: boolean): void {
    if (this.#isEnded) return;
    if (isLast) this.#finish();
    else if (this.#subscribers.size === 0 && this.#subscription.kind !== 'signature') return;
    const notification = new Notification(subscriptions[this.#subscription.kind].notification, result);
    if (!isLast && this.#subscription.kind === 'signature') this.#receivedSignature = notification;
    for (const subscriber of this.#subscribers) subscriber.notify(notification, isLast);
    if (isLast) this.#subscribers.clear();
  }

  onError(failure: Failure): void {
    if (this.#isEnded) return;
    this.#finish();
    for (const subscriber of this.#subscribers) subscriber.fail(failure);
    this.#subscribers.clear();
  }

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

type BufferedNotification = Readonly<{ notification: Notification; isLast: boolean }>;

/** Buffers notifications until the subscription is acknowledged. */
export class TopicSubscriber implements OpenSubscription {
  readonly #topic: Topic;
  readonly #subscriber: Subscriber;
  readonly #bufferedMax: number;
  /** Null after `start`. */
  #buffered: BufferedNotification[] | null = [];
  #failure: Failure | null = null;
  #isClosed = false;

  constructor(topic: Topic, subscriber: Subscriber, bufferedMax: number) {
    this.#topic = topic;
    this.#subscriber = subscriber;
    this.#bufferedMax = bufferedMax;
  }

  notify(notification: Notification, isLast: boolean): void {
    if (this.#buffered === null) this.#subscriber.onNotification(notification, isLast);
    else if (this.#buffered.length < this.#bufferedMax) this.#buffered.push({ notification, isLast });
    else
      this.#failure ??= new Failure('OVERLOADED', {
        cause: 'notification buffer full before the subscription was acknowledged',
      });
  }

  fail(failure: Failure): void {
    if (this.#buffered === null) this.#subscriber.onError(failure);
    else this.#failure ??= failure;
  }

  start(): void {
    const buffered = this.#buffered ?? [];
    this.#buffered = null;
    for (const { notification, isLast } of buffered) {
      if (this.#isClosed) return;
      this.#subscriber.onNotification(notification, isLast);
    }
    if (this.#failure !== null && !this.#isClosed) this.#subscriber.onError(this.#failure);
  }

  close(): void {
    this.#isClosed = true;
    this.#topic.remove(this);
  }
}
