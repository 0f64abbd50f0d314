import { Failure } from '../../protocol/errors.ts';
import { topicKey } from '../../protocol/pubsub/topic-key.ts';
import type { Subscription } from '../../protocol/subscriptions.ts';
import type { Feed } from '../../streams/feed.ts';
import type { OpenSubscription, Subscriber } from '../../streams/session.ts';
import { Topic, type TopicListener, type TopicOptions } from './topic.ts';

export type TopicHubOptions = TopicOptions &
  Readonly<{
    /** Different subscriptions open at a time; beyond it a new one gets OVERLOADED. */
    topicsMax: number;
    /** Addresses in the subscriptions that are open; beyond it a new one gets OVERLOADED. */
    addressesMax: number;
    /** Feeds that stay open without a subscriber; beyond it those without one for longest are ended. */
    idleMax: number;
    /** How long a feed stays open after its last subscriber left, so that coming back is free. */
    graceMs: number;
  }>;

/** How much is kept open, and for how long, when nothing else is said. */
export const topicHubOptions: TopicHubOptions = {
  topicsMax: 100_000,
  addressesMax: 1_000_000,
  idleMax: 1_000,
  graceMs: 5_000,
  openTimeoutMs: 15_000,
  bufferedMax: 1_024,
};

/** Every subscription that somebody holds: however many ask for the same, the feed is asked once. */
export class TopicHub implements TopicListener {
  readonly #feed: Feed;
  readonly #options: TopicHubOptions;
  readonly #topics = new Map<string, Topic>();
  /** Topics without subscribers, the one that is so for longest first, and when their feeds are ended. */
  readonly #idle = new Map<Topic, NodeJS.Timeout>();
  #addresses = 0;

  constructor(feed: Feed, options: Partial<TopicHubOptions> = {}) {
    this.#feed = feed;
    this.#options = { ...topicHubOptions, ...options };
  }

  /** Subscriptions that are open at the feed, or are being opened. */
  get size(): number {
    return this.#topics.size;
  }

  /**
   * Subscribes; the subscriber hears nothing before `start` of what is returned.
   * @throws Failure OVERLOADED, UPSTREAM_TIMEOUT; what `Feed.open` throws, for all who waited for it.
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

  /** Ends every feed; who still subscribes hears nothing more. */
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
    // One that names a single address is bounded by the number of topics: long lists of others must not keep it out.
    const fits = addresses <= 1 || this.#addresses + addresses <= addressesMax;
    return this.#topics.size < topicsMax && fits;
  }

  #ensureCapacity(topic: Topic): void {
    while (!this.#hasCapacityFor(topic)) {
      if (!this.#closeIdle()) throw new Failure('OVERLOADED', { cause: 'no room for another topic' });
    }
  }

  /** Ends the feed that has been without a subscriber for longest. @returns whether there was one. */
  #closeIdle(): boolean {
    const [longest] = this.#idle.keys();
    longest?.close();
    return longest !== undefined;
  }
}

/** Feeds without subscribers that are ended at once when a feed has no room. */
const IDLE_CLOSED_MAX = 16;
