import type { Commitment } from '../../protocol/commitment.ts';
import type { Subscription, SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Slot } from '../../solana/units.ts';
import type { Feed, FeedListener } from '../../streams/feed.ts';
import type { BlockFollower } from './block-follower.ts';
import type { EmittedTransactions } from './block-stream.ts';
import type { Continuity } from './gap/continuity.ts';
import type { PubsubSubscription } from './gap/continuity-of.ts';
import type { PubsubFeed } from './pubsub-feed.ts';
import type { SlotInfo } from './pubsub-message.ts';

/** A feed that says how far it has come. */
export interface PositionedFeed extends Feed {
  /** The newest slot that was told to its end, also when the feed has just given up; null for none. */
  position(): SlotInfo | null;
  /** Transactions of slots up to this one were told at the commitment, or are older than the feed; null for none. */
  emittedUpTo(commitment: Commitment): Slot | null;
  /** Which transactions were told. Called while the feed gives a subscription up, it says what it told until then. */
  emittedTransactions(): EmittedTransactions;
}

/** What carries a subscription on that a feed gives up. */
type FailoverOptions<Opened, Position> = Readonly<{
  /** How far the feed has come when it has opened the subscription. */
  opened: () => Opened;
  /** How far it has come when it gives it up. */
  lastPosition: () => Position;
  /** @returns what ends it. */
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
  // It gave up before it said that it was open.
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
  continuity: Continuity;
  onFailover: () => void;
}>;

/**
 * Opens a subscription on a preferred feed and, when that gives it up, carries it on from PubSub: what was missed in
 * between is told, once, and the listener notices a pause.
 * @returns what ends it.
 * @throws what the preferred feed's `open` throws.
 */
export function openPreferred(
  { preferred, pubsub, continuity, onFailover }: PreferredSubscriptionOptions,
  subscription: PubsubSubscription,
  listener: FeedListener,
): Promise<() => void> {
  const filtered: FeedListener = {
    onNotification(result, last) {
      if (continuity.decide(result) !== 'drop') listener.onNotification(result, last);
    },
    onError: (failure) => listener.onError(failure),
  };
  return openWith(preferred, subscription, filtered, {
    // Before the first slot that it tells, the nodes say where the chain is.
    opened: () => preferred.position() ?? pubsub.position(),
    lastPosition: () => preferred.position(),
    resume(opened, from) {
      onFailover();
      // It was not open yet, or told no slot since: then either is as far back as anything is missing.
      const start = opened ?? from ?? pubsub.position();
      return pubsub.resume(subscription, listener, { continuity, opened: start, from: from ?? start });
    },
  });
}

type PreferredTransactionsOptions = Readonly<{
  preferred: PositionedFeed;
  blocks: BlockFollower;
  onFailover: () => void;
}>;

/**
 * The same for a `transaction` subscription, which goes on from blocks. At `processed` it then tells what is
 * confirmed.
 * @throws what the preferred feed's `open` throws.
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
