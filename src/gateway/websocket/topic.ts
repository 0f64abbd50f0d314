import { Failure } from '../../protocol/errors.ts';
import { type Subscription, subscriptions } from '../../protocol/subscriptions.ts';
import type { Feed, FeedListener } from '../../streams/feed.ts';
import { Notification } from '../../streams/notification.ts';
import type { OpenSubscription, Subscriber } from '../../streams/session.ts';
import { countAddresses } from '../limits/address-cost.ts';

/** What a topic tells whoever keeps it. */
export interface TopicListener {
  /** Nobody subscribes to it any longer. */
  onIdle(topic: Topic): void;
  /** It tells nothing more: whoever comes now needs another. */
  onEnd(topic: Topic): void;
  /** The feed has no room: ends some that nobody subscribes to. @returns whether there were any. */
  freeCapacity(): boolean;
}

export type TopicOptions = Readonly<{
  /** How long a feed may take to open a subscription. */
  openTimeoutMs: number;
  /** Notifications held for a subscriber whose acknowledgement has not gone out. */
  bufferedMax: number;
}>;

/**
 * What one subscription of the feed tells, shared by all who asked for the same: one notification object for each
 * event, whoever many they are.
 */
export class Topic implements FeedListener {
  readonly key: string;
  readonly #subscription: Subscription;
  readonly #listener: TopicListener;
  readonly #options: TopicOptions;
  readonly #subscribers = new Set<TopicSubscriber>();
  #opened: Promise<void> | null = null;
  #closeFeed: (() => void) | null = null;
  #isEnded = false;
  /** "receivedSignature", for those who come after it went by. */
  #received: Notification | null = null;

  constructor(key: string, subscription: Subscription, listener: TopicListener, options: TopicOptions) {
    this.key = key;
    this.#subscription = subscription;
    this.#listener = listener;
    this.#options = options;
  }

  /** Addresses that it holds in memory. */
  get addresses(): number {
    return countAddresses(this.#subscription);
  }

  /** Subscribers. */
  get size(): number {
    return this.#subscribers.size;
  }

  /** Adds a subscriber, who is told from now on but hears it after `start`. */
  add(subscriber: Subscriber): TopicSubscriber {
    const member = new TopicSubscriber(this, subscriber, this.#options.bufferedMax);
    this.#subscribers.add(member);
    if (this.#received !== null) member.notify(this.#received, false);
    return member;
  }

  remove(member: TopicSubscriber): void {
    if (this.#subscribers.delete(member) && this.#subscribers.size === 0 && !this.#isEnded)
      this.#listener.onIdle(this);
  }

  /**
   * Opens the feed, once, however many wait for it.
   * @throws Failure UPSTREAM_TIMEOUT, and what `Feed.open` throws.
   */
  open(feed: Feed): Promise<void> {
    this.#opened ??= this.#open(feed);
    return this.#opened;
  }

  #open(feed: Feed): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (refusal: unknown): void => {
        clearTimeout(timer);
        this.#finish();
        reject(refusal);
      };
      const timer = setTimeout(() => refuse(new Failure('UPSTREAM_TIMEOUT')), this.#options.openTimeoutMs);
      this.#openWithRetry(feed).then((end) => {
        clearTimeout(timer);
        if (this.#isEnded) end();
        else this.#closeFeed = end;
        resolve();
      }, refuse);
    });
  }

  async #openWithRetry(feed: Feed): Promise<() => void> {
    try {
      return await feed.open(this.#subscription, this);
    } catch (thrown) {
      const isFull = thrown instanceof Failure && thrown.code === 'OVERLOADED';
      if (!isFull || this.#isEnded || !this.#listener.freeCapacity()) throw thrown;
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

  /** Ends the feed. */
  close(): void {
    if (this.#isEnded) return;
    this.#finish();
    this.#closeFeed?.();
  }

  #finish(): void {
    this.#isEnded = true;
    this.#listener.onEnd(this);
  }
}

type BufferedNotification = Readonly<{ notification: Notification; last: boolean }>;

/** One subscriber of a topic. */
export class TopicSubscriber implements OpenSubscription {
  readonly #topic: Topic;
  readonly #subscriber: Subscriber;
  readonly #bufferedMax: number;
  /** What was told before the acknowledgement went out; null since it did. */
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
    else this.#failure ??= new Failure('OVERLOADED', { cause: 'an acknowledgement was too long on its way' });
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
