import type { Failure } from '../../protocol/errors.ts';
import type { Feed, FeedListener } from '../../streams/feed.ts';
import type { Continuity } from './gap/continuity.ts';
import type { PubsubSubscription } from './gap/continuity-of.ts';
import type { PubsubFeed } from './pubsub-feed.ts';
import type { SlotInfo } from './slot-info.ts';

/** A feed that says how far it has come. */
export interface PositionedFeed extends Feed {
  /** The newest slot that was told to its end, also when the feed has just given up; null for none. */
  position(): SlotInfo | null;
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
export async function openPreferred(
  options: PreferredSubscriptionOptions,
  subscription: PubsubSubscription,
  listener: FeedListener,
): Promise<() => void> {
  const { preferred, pubsub, continuity, onTakeOver } = options;
  let end: (() => void) | null = null;
  let isEnded = false;
  let failure: Failure | null = null;
  let opened: SlotInfo | null = null;
  const takeOver = (): void => {
    if (isEnded) return;
    onTakeOver();
    const from = preferred.position();
    // Opened before any slot was told: then what was told last is as far back as anything is missing.
    end = pubsub.takeOver(subscription, listener, { continuity, opened: opened ?? from, from });
  };
  const close = await preferred.open(subscription, {
    notify(result, last) {
      if (continuity.judge(result) !== 'drop') listener.notify(result, last);
    },
    fail(fault) {
      failure = fault;
      if (end !== null) takeOver();
    },
  });
  opened = preferred.position();
  end = close;
  // It gave up before it said that it was open.
  if (failure !== null) takeOver();
  return () => {
    isEnded = true;
    end?.();
  };
}
