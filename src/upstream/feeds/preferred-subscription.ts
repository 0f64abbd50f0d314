import type { Commitment } from '../../protocol/commitment.ts';
import type { Subscription, SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Slot } from '../../solana/units.ts';
import type { Feed, FeedListener } from '../../streams/feed.ts';
import type { BlockFollower } from './block-follower.ts';
import type { EmittedTransactions } from './block-stream.ts';
import type { PubsubSubscription } from './gap/create-gap-recovery.ts';
import type { GapRecovery } from './gap/gap-recovery.ts';
import type { PubsubFeed } from './pubsub-feed.ts';
import type { SlotInfo } from './pubsub-message.ts';

export interface PositionedFeed extends Feed {
  /** The newest completed slot, also while subscriptions fail; null for none. */
  position(): SlotInfo | null;
  /**
   * Transactions of slots up to this one were emitted at the commitment, or precede the feed; null for none.
   */
  emittedUpTo(commitment: Commitment): Slot | null;
  /** Snapshot of the emitted transactions, also while a subscription fails. */
  emittedTransactions(): EmittedTransactions;
}

type FailoverOptions<Opened, Position> = Readonly<{
  /** Position when the feed opened the subscription. */
  opened: () => Opened;
  /** Position when the feed failed it. */
  lastPosition: () => Position;
  /** @returns a function that ends the subscription. */
  resume: (opened: Opened | null, lastPosition: Position) => () => void;
}>;

async function openWith<Opened, Position>(
  preferred: Feed,
  subscription: Subscription,
  listener: FeedListener,
  failover: FailoverOptions<Opened, Position>,
): Promise<() => void> {
  let end: (() => void) | null = null;
  let isEnded = false;
  let opened: Opened | null = null;
  let failOver: (() => void) | null = null;
  const close = await preferred.open(subscription, {
    onNotification: (result, last) => listener.onNotification(result, last),
    onError() {
      const lastPosition = failover.lastPosition();
      failOver = () => {
        if (!isEnded) end = failover.resume(opened, lastPosition);
      };
      if (end !== null) failOver();
    },
  });
  end = close;
  // It failed before `open` resolved.
  if (failOver === null) opened = failover.opened();
  else (failOver as () => void)();
  return () => {
    isEnded = true;
    end?.();
  };
}

type PreferredSubscriptionOptions = Readonly<{
  preferred: PositionedFeed;
  pubsub: PubsubFeed;
  gapRecovery: GapRecovery;
  onFailover: () => void;
}>;

/**
 * Opens a subscription on the preferred feed and fails over to PubSub, which emits what was missed, once.
 * @returns a function that ends the subscription.
 * @throws as the preferred feed's `open` does.
 */
export function openPreferred(
  { preferred, pubsub, gapRecovery, onFailover }: PreferredSubscriptionOptions,
  subscription: PubsubSubscription,
  listener: FeedListener,
): Promise<() => void> {
  const filtered: FeedListener = {
    onNotification(result, last) {
      if (gapRecovery.decide(result) !== 'drop') listener.onNotification(result, last);
    },
    onError: (failure) => listener.onError(failure),
  };
  return openWith(preferred, subscription, filtered, {
    // Before its first slot, use the position of the nodes.
    opened: () => preferred.position() ?? pubsub.position(),
    lastPosition: () => preferred.position(),
    resume(opened, from) {
      onFailover();
      // Without a position, either one precedes anything missed.
      const start = opened ?? from ?? pubsub.position();
      return pubsub.resume(subscription, listener, { gapRecovery, opened: start, from: from ?? start });
    },
  });
}

type PreferredTransactionsOptions = Readonly<{
  preferred: PositionedFeed;
  blocks: BlockFollower;
  onFailover: () => void;
}>;

/**
 * The same for a `transaction` subscription, which fails over to blocks; at `processed` it then emits
 * confirmed transactions.
 * @throws as the preferred feed's `open` does.
 */
export function openPreferredTransactions(
  { preferred, blocks, onFailover }: PreferredTransactionsOptions,
  subscription: SubscriptionOf<'transaction'>,
  listener: FeedListener,
): Promise<() => void> {
  const { commitment } = subscription;
  return openWith(preferred, subscription, listener, {
    opened: () => preferred.emittedUpTo(commitment),
    lastPosition: () => preferred.emittedTransactions(),
    resume(opened, emitted) {
      onFailover();
      return blocks.resume(subscription, listener, { emitted, opened });
    },
  });
}
