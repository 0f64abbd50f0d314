import type { Logger } from '../../base/log.ts';
import type { Network, RpcDispatcher } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import type { Subscription, SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Feed, FeedError, FeedListener } from '../../streams/feed.ts';
import { LedgerNotifier } from '../../streams/ledger-notifier.ts';
import type { NodeConfig } from '../node.ts';
import type { NodeFeedStatus } from '../node-status.ts';
import { BlockFollower } from './block-follower.ts';
import { ChainReader } from './chain-reader.ts';
import { createGapRecovery } from './gap/create-gap-recovery.ts';
import type { GapRecovery } from './gap/gap-recovery.ts';
import { type FeedLimits, feedLimits } from './limits.ts';
import type { PreferredFeed } from './preferred-feed.ts';
import { PubsubFeed } from './pubsub-feed.ts';
import type { PubsubSubscription } from './pubsub-message.ts';

type FailoverOptions<Opened, Position> = Readonly<{
  opened: () => Opened;
  lastPosition: () => Position;
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
    onNotification: (result, isLast) => listener.onNotification(result, isLast),
    onError() {
      const lastPosition = failover.lastPosition();
      failOver = () => {
        if (!isEnded) end = failover.resume(opened, lastPosition);
      };
      if (end !== null) failOver();
    },
  });
  end = close;
  // If the subscription failed before `open` resolved, it fails over now.
  if (failOver === null) opened = failover.opened();
  else (failOver as () => void)();
  return () => {
    isEnded = true;
    end?.();
  };
}

type PreferredSubscriptionOptions = Readonly<{
  preferred: PreferredFeed;
  pubsub: PubsubFeed;
  gapRecovery: GapRecovery;
  onFailover: () => void;
}>;

/** Subscribes on the preferred feed. If that feed fails, PubSub takes over and emits each missed notification once. */
function openPreferred(
  { preferred, pubsub, gapRecovery, onFailover }: PreferredSubscriptionOptions,
  subscription: PubsubSubscription,
  listener: FeedListener,
): Promise<() => void> {
  const filtered: FeedListener = {
    onNotification(result, isLast) {
      if (gapRecovery.decide(result) !== 'drop') listener.onNotification(result, isLast);
    },
    onError: (failure) => listener.onError(failure),
  };
  return openWith(preferred, subscription, filtered, {
    // Until the preferred feed has completed a slot, use the position of the PubSub nodes.
    opened: () => preferred.position() ?? pubsub.position(),
    lastPosition: () => preferred.position(),
    resume(opened, from) {
      onFailover();
      // If `opened` is unknown, `from` and the PubSub position also precede all missed notifications.
      const start = opened ?? from ?? pubsub.position();
      return pubsub.resume(subscription, listener, { gapRecovery, opened: start, from: from ?? start });
    },
  });
}

type PreferredTransactionsOptions = Readonly<{
  preferred: PreferredFeed;
  blocks: BlockFollower;
  onFailover: () => void;
}>;

/** Like `openPreferred`, but the block follower takes over. At `processed`, it emits only confirmed transactions. */
function openPreferredTransactions(
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

type FeedOptions = Readonly<{
  network: Network;
  pool: RpcDispatcher & Readonly<{ status: () => readonly NodeFeedStatus[] }>;
  nodes: readonly NodeConfig[];
  preferred?: PreferredFeed | null;
  reader?: ChainReader;
  limits?: Partial<FeedLimits>;
  log: Logger;
}>;

export type NetworkFeed = Feed &
  Readonly<{
    /** Subscriptions on removed nodes fail over without loss. */
    setNodes(nodes: readonly NodeConfig[]): void;
    close(): void;
  }>;

const isBlockBased = (
  subscription: Subscription,
): subscription is Extract<Subscription, { kind: 'block' | 'transaction' }> =>
  subscription.kind === 'block' || subscription.kind === 'transaction';

function toFeedError(network: Network, fault: unknown): FeedError {
  if (fault instanceof Failure || fault instanceof RpcError) return fault;
  return new Failure('UPSTREAM_UNAVAILABLE', { facts: { network }, cause: fault });
}

/** Only a configuration change can help, so clients should wait a long time before retrying. */
const noFeed = (network: Network): Failure =>
  new Failure('UPSTREAM_UNAVAILABLE', { facts: { network, feeds: 0 }, retryAfter: NO_FEED_RETRY_S });

const NO_FEED_RETRY_S = 60;

/** For kinds that `preferred` does not serve, reads blocks (`block`, `transaction`) or uses PubSub (all others). */
export function createFeed(options: FeedOptions): NetworkFeed {
  const { network, pool, nodes, preferred = null, log } = options;
  const limits = { ...feedLimits, ...options.limits };
  const { reader = new ChainReader({ network, pool, limits, log }) } = options;
  const pubsub = new PubsubFeed({ network, nodes, status: () => pool.status(), limits, log, reader });
  const slotFeed = (): PreferredFeed | null =>
    !pubsub.any && preferred !== null && preferred.serves('slot') ? preferred : null;
  const blocks = new BlockFollower({
    network,
    reader,
    limits,
    log,
    createNotifier: () => new LedgerNotifier(),
    pubsub: {
      open: (slots, listener) => (slotFeed() ?? pubsub).open(slots, listener),
      networkSlot: () => pubsub.networkSlot(),
    },
  });

  const openFrom = (
    feed: PreferredFeed,
    subscription: Subscription,
    listener: FeedListener,
  ): Promise<() => void> => {
    const { kind } = subscription;
    if (kind === 'block' || !pubsub.any) return feed.open(subscription, listener);
    const onFailover = (): void => log.warn({ network, kind }, 'Geyser subscription failed over to PubSub');
    if (kind === 'transaction') {
      return openPreferredTransactions({ preferred: feed, blocks, onFailover }, subscription, listener);
    }
    const gapRecovery = createGapRecovery(subscription, limits.seenMax);
    return openPreferred({ preferred: feed, pubsub, gapRecovery, onFailover }, subscription, listener);
  };

  return {
    async open(subscription, listener) {
      const isPreferred = preferred?.serves(subscription.kind) ?? false;
      const fromBlocks = slotFeed() !== null && isBlockBased(subscription);
      if (!isPreferred && !pubsub.any && !fromBlocks) throw noFeed(network);
      if (preferred !== null && isPreferred) {
        try {
          return await openFrom(preferred, subscription, listener);
        } catch (fault) {
          // Falls back only if the feed failed, not if it rejected the subscription.
          if (!(fault instanceof Failure && fault.row.owner === 'upstream')) throw fault;
          log.warn({ network, kind: subscription.kind }, 'Geyser unavailable; falling back to PubSub');
        }
      }
      try {
        if (isBlockBased(subscription)) return await blocks.open(subscription, listener);
        return await pubsub.open(subscription, listener);
      } catch (fault) {
        throw toFeedError(network, fault);
      }
    },
    setNodes: (nodes) => pubsub.setNodes(nodes),
    close() {
      preferred?.close();
      blocks.close();
      pubsub.close();
    },
  };
}
