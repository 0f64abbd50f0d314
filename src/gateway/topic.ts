import { Failure } from '../protocol/errors.ts';
import { type Subscription, subscriptions } from '../protocol/subscriptions.ts';
import type { Feed, FeedListener } from '../streams/feed.ts';
import { Notification } from '../streams/notification.ts';
import type { OpenSubscription, Subscriber } from '../streams/session.ts';
import { addressesOf } from './addresses-of.ts';

/** What a topic tells whoever keeps it. */
export interface TopicKeeper {
  /** Nobody subscribes to it any longer. */
  idle(topic: Topic): void;
  /** It tells nothing more: whoever comes now needs another. */
  over(topic: Topic): void;
  /** The feed has no room: ends some that nobody subscribes to. @returns whether there were any. */
  makeRoom(): boolean;
}

export type TopicOptions = Readonly<{
  /** How long a feed may take to open a subscription. */
  openTimeoutMs: number;
  /** Notifications held for a subscriber whose acknowledgement has not gone out. */
  heldMax: number;
}>;

/**
 * What one subscription of the feed tells, shared by all who asked for the same: one notification object for each
 * event, whoever many they are.
 */
export class Topic implements FeedListener {
  readonly key: string;
  readonly #subscription: Subscription;
  readonly #keeper: TopicKeeper;
  readonly #options: TopicOptions;
  readonly #members = new Set<Member>();
  #opened: Promise<void> | null = null;
  #end: (() => void) | null = null;
  #over = false;
  /** "receivedSignature", for those who come after it went by. */
  #received: Notification | null = null;

  constructor(key: string, subscription: Subscription, keeper: TopicKeeper, options: TopicOptions) {
    this.key = key;
    this.#subscription = subscription;
    this.#keeper = keeper;
    this.#options = options;
  }

  /** Addresses that it holds in memory. */
  get addresses(): number {
    return addressesOf(this.#subscription);
  }

  /** Subscribers. */
  get size(): number {
    return this.#members.size;
  }

  /** Adds a subscriber, who is told from now on but hears it after `start`. */
  add(subscriber: Subscriber): Member {
    const member = new Member(this, subscriber, this.#options.heldMax);
    this.#members.add(member);
    if (this.#received !== null) member.notify(this.#received, false);
    return member;
  }

  remove(member: Member): void {
    if (this.#members.delete(member) && this.#members.size === 0 && !this.#over) this.#keeper.idle(this);
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
      this.#openAt(feed).then((end) => {
        clearTimeout(timer);
        if (this.#over) end();
        else this.#end = end;
        resolve();
      }, refuse);
    });
  }

  async #openAt(feed: Feed): Promise<() => void> {
    try {
      return await feed.open(this.#subscription, this);
    } catch (thrown) {
      const isFull = thrown instanceof Failure && thrown.code === 'OVERLOADED';
      if (!isFull || this.#over || !this.#keeper.makeRoom()) throw thrown;
      return feed.open(this.#subscription, this);
    }
  }

  notify(result: Buffer, last: boolean): void {
    if (this.#over) return;
    if (last) this.#finish();
    else if (this.#members.size === 0 && this.#subscription.kind !== 'signature') return;
    const notification = new Notification(subscriptions[this.#subscription.kind].notification, result);
    if (!last && this.#subscription.kind === 'signature') this.#received = notification;
    for (const member of this.#members) member.notify(notification, last);
    if (last) this.#members.clear();
  }

  fail(failure: Failure): void {
    if (this.#over) return;
    this.#finish();
    for (const member of this.#members) member.fail(failure);
    this.#members.clear();
  }

  /** Ends the feed. */
  close(): void {
    if (this.#over) return;
    this.#finish();
    this.#end?.();
  }

  #finish(): void {
    this.#over = true;
    this.#keeper.over(this);
  }
}

type Held = Readonly<{ notification: Notification; last: boolean }>;

/** One subscriber of a topic. */
export class Member implements OpenSubscription {
  readonly #topic: Topic;
  readonly #subscriber: Subscriber;
  readonly #heldMax: number;
  /** What was told before the acknowledgement went out; null since it did. */
  #held: Held[] | null = [];
  #failure: Failure | null = null;
  #closed = false;

  constructor(topic: Topic, subscriber: Subscriber, heldMax: number) {
    this.#topic = topic;
    this.#subscriber = subscriber;
    this.#heldMax = heldMax;
  }

  notify(notification: Notification, last: boolean): void {
    if (this.#held === null) this.#subscriber.notify(notification, last);
    else if (this.#held.length < this.#heldMax) this.#held.push({ notification, last });
    else this.#failure ??= new Failure('OVERLOADED', { cause: 'an acknowledgement was too long on its way' });
  }

  fail(failure: Failure): void {
    if (this.#held === null) this.#subscriber.fail(failure);
    else this.#failure ??= failure;
  }

  start(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const { notification, last } of held) {
      if (this.#closed) return;
      this.#subscriber.notify(notification, last);
    }
    if (this.#failure !== null && !this.#closed) this.#subscriber.fail(this.#failure);
  }

  close(): void {
    this.#closed = true;
    this.#topic.remove(this);
  }
}
