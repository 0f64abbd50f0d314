import { Failure } from '../protocol/errors.ts';
import { topicKey } from '../protocol/pubsub/topic-key.ts';
import type { Subscription } from '../protocol/subscriptions.ts';
import type { Feed } from '../streams/feed.ts';
import type { OpenSubscription, Subscriber } from '../streams/session.ts';
import { Topic, type TopicKeeper, type TopicOptions } from './topic.ts';

export type TopicHubOptions = TopicOptions &
  Readonly<{
    /** Different subscriptions open at a time; beyond it a new one gets OVERLOADED. */
    topicsMax: number;
    /** How long a feed stays open after its last subscriber left, so that coming back is free. */
    graceMs: number;
  }>;

export const topicHubOptions: TopicHubOptions = {
  topicsMax: 100_000,
  graceMs: 5_000,
  openTimeoutMs: 15_000,
  heldMax: 1_024,
};

/** Every subscription that somebody holds: however many ask for the same, the feed is asked once. */
export class TopicHub implements TopicKeeper {
  readonly #feed: Feed;
  readonly #options: TopicHubOptions;
  readonly #topics = new Map<string, Topic>();
  /** Topics without subscribers, the one that is so for longest first, and when their feeds are ended. */
  readonly #idle = new Map<Topic, NodeJS.Timeout>();

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

  idle(topic: Topic): void {
    this.#idle.set(
      topic,
      setTimeout(() => topic.close(), this.#options.graceMs),
    );
  }

  over(topic: Topic): void {
    clearTimeout(this.#idle.get(topic));
    this.#idle.delete(topic);
    if (this.#topics.get(topic.key) === topic) this.#topics.delete(topic.key);
  }

  /** Ends every feed; who still subscribes hears nothing more. */
  close(): void {
    for (const topic of [...this.#topics.values()]) topic.close();
  }

  #topicOf(subscription: Subscription): Topic {
    const key = topicKey(subscription);
    const known = this.#topics.get(key);
    if (known !== undefined) return known;
    this.#makeRoom();
    const topic = new Topic(key, subscription, this, this.#options);
    this.#topics.set(key, topic);
    return topic;
  }

  #makeRoom(): void {
    if (this.#topics.size < this.#options.topicsMax) return;
    const [longest] = this.#idle.keys();
    if (longest === undefined) throw new Failure('OVERLOADED', { cause: 'no room for another topic' });
    longest.close();
  }
}
