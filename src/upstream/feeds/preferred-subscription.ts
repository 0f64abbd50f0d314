import type { Slot } from '../../ledger/units.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import type { Subscription, SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Feed, FeedListener } from '../../streams/feed.ts';
import type { BlockFollower } from './block-follower.ts';
import type { Continuity } from './gap/continuity.ts';
import type { PubsubSubscription } from './gap/continuity-of.ts';
import type { PubsubFeed } from './pubsub-feed.ts';
import type { SlotInfo } from './slot-info.ts';
import type { TransactionsTold } from './transactions-told.ts';

/** A feed that says how far it has come. */
export interface PositionedFeed extends Feed {
  /** The newest slot that was told to its end, also when the feed has just given up; null for none. */
  position(): SlotInfo | null;
  /** Transactions of slots up to this one were told at the commitment, or are older than the feed; null for none. */
  toldUpTo(commitment: Commitment): Slot | null;
  /** Which transactions were told. Called while the feed gives a subscription up, it says what it told until then. */
  transactionsTold(): TransactionsTold;
}

/** What carries a subscription on that a feed gives up. */
type Succession<Opened, Left> = Readonly<{
  /** How far the feed has come when it has opened the subscription. */
  opened: () => Opened;
  /** How far it has come when it gives it up. */
  left: () => Left;
  /** @returns what ends it. */
  takeOver: (opened: Opened | null, left: Left) => () => void;
}>;

async function openWith<Opened, Left>(
  preferred: Feed,
  subscription: Subscription,
  listener: FeedListener,
  succession: Succession<Opened, Left>,
): Promise<() => void> {
  let end: (() => void) | null = null;
  let isEnded = false;
  let opened: Opened | null = null;
  let goOn: (() => void) | null = null;
  const close = await preferred.open(subscription, {
    notify: (result, last) => listener.notify(result, last),
    fail() {
      const left = succession.left();
      goOn = () => {
        if (!isEnded) end = succession.takeOver(opened, left);
      };
      if (end !== null) goOn();
    },
  });
  end = close;
  // It gave up before it said that it was open.
  if (goOn === null) opened = succession.opened();
  else (goOn as () => void)();
  return () => {
    isEnded = true;
    end?.();
  };
}

export type PreferredSubscriptionOptions = Readonly<{
  preferred: PositionedFeed;
  pubsub: PubsubFeed;
  continuity: Continuity;
  onTakeOver: () => void;
}>;

/**
 * Opens a subscription on a preferred feed and, when that gives it up, carries it on from PubSub: what was missed in
 * between is told, once, and the listener notices a pause.
 * @returns what ends it.
 * @throws what the preferred feed's `open` throws.
 */
export function openPreferred(
  { preferred, pubsub, continuity, onTakeOver }: PreferredSubscriptionOptions,
  subscription: PubsubSubscription,
  listener: FeedListener,
): Promise<() => void> {
  const judged: FeedListener = {
    notify(result, last) {
      if (continuity.judge(result) !== 'drop') listener.notify(result, last);
    },
    fail: (failure) => listener.fail(failure),
  };
  return openWith(preferred, subscription, judged, {
    // Before the first slot that it tells, the nodes say where the chain is.
    opened: () => preferred.position() ?? pubsub.position(),
    left: () => preferred.position(),
    takeOver(opened, from) {
      onTakeOver();
      // It was not open yet, or told no slot since: then either is as far back as anything is missing.
      const begun = opened ?? from ?? pubsub.position();
      return pubsub.takeOver(subscription, listener, { continuity, opened: begun, from: from ?? begun });
    },
  });
}

export type PreferredTransactionsOptions = Readonly<{
  preferred: PositionedFeed;
  blocks: BlockFollower;
  onTakeOver: () => void;
}>;

/**
 * The same for a `transaction` subscription, which goes on from blocks. At `processed` it then tells what is
 * confirmed.
 * @throws what the preferred feed's `open` throws.
 */
export function openPreferredTransactions(
  { preferred, blocks, onTakeOver }: PreferredTransactionsOptions,
  subscription: SubscriptionOf<'transaction'>,
  listener: FeedListener,
): Promise<() => void> {
  const { commitment } = subscription;
  return openWith(preferred, subscription, listener, {
    opened: () => preferred.toldUpTo(commitment),
    left: () => preferred.transactionsTold(),
    takeOver(opened, told) {
      onTakeOver();
      return blocks.takeOver(subscription, listener, { told, opened });
    },
  });
}
