import { topicKey } from '../../src/protocol/pubsub/topic-key.ts';
import type { Subscription } from '../../src/protocol/subscriptions.ts';
import type { Feed, FeedListener } from '../../src/streams/feed.ts';

export type Opening = {
  readonly key: string;
  readonly subscription: Subscription;
  readonly listener: FeedListener;
  closed: boolean;
};

/** A feed that emits what the test sends, and records the subscriptions. */
export class ScriptedFeed implements Feed {
  readonly openings: Opening[] = [];
  /** Delays the opening of a subscription; a rejection makes it fail. */
  gate: (subscription: Subscription) => Promise<void> = async () => {};

  async open(subscription: Subscription, listener: FeedListener): Promise<() => void> {
    const opening = { key: topicKey(subscription), subscription, listener, closed: false };
    this.openings.push(opening);
    await this.gate(subscription);
    return () => {
      opening.closed = true;
    };
  }

  get live(): Opening[] {
    return this.openings.filter(({ closed }) => !closed);
  }

  emit(kind: Subscription['kind'], result: string, last = false): void {
    for (const { subscription, listener } of this.live) {
      if (subscription.kind === kind) listener.onNotification(Buffer.from(result), last);
    }
  }
}
