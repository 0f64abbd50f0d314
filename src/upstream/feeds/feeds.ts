import type { Logger } from '../../base/log.ts';
import type { Network, RpcDispatcher } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import type { Subscription, SubscriptionKind } from '../../protocol/subscriptions.ts';
import type { Feed, FeedError, FeedListener } from '../../streams/feed.ts';
import type { NodeConfig } from '../node.ts';
import type { NodeFeedStatus } from '../node-status.ts';
import { BlockFollower } from './block-follower.ts';
import { ChainReader } from './chain-reader.ts';
import { continuityOf } from './gap/continuity-of.ts';
import { type FeedLimits, feedLimits } from './limits.ts';
import { openPreferred, openPreferredTransactions, type PositionedFeed } from './preferred-subscription.ts';
import { PubsubFeed } from './pubsub-feed.ts';

/** A feed that is asked before PubSub, for the kinds that it serves. */
export interface PreferredFeed extends PositionedFeed {
  serves(kind: SubscriptionKind): boolean;
  /** Takes these servers from now on; with none, what it feeds is given up. */
  setNodes(nodes: readonly NodeConfig[]): void;
  close(): void;
}

export type FeedOptions = Readonly<{
  network: Network;
  /** Answers what a gap is filled with. */
  pool: RpcDispatcher & Readonly<{ status: () => readonly NodeFeedStatus[] }>;
  /** The network's nodes; those with a `ws` address have PubSub. */
  nodes: readonly NodeConfig[];
  /** Makes a Geyser feed of the same nodes, which reads the chain with the same reader; null where none has Geyser. */
  preferred?: (reader: ChainReader) => PreferredFeed | null;
  limits?: Partial<FeedLimits>;
  log: Logger;
}>;

/** The feed of one network. */
export type NetworkFeed = Feed &
  Readonly<{
    /**
     * Listens to these nodes from now on; subscriptions move without loss.
     * @returns whether all of them could follow: a first Geyser is taken only at the start.
     */
    setNodes(nodes: readonly NodeConfig[]): boolean;
    /** Ends everything at once. Listeners are not told. */
    close(): void;
  }>;

const isBlockBased = (
  subscription: Subscription,
): subscription is Extract<Subscription, { kind: 'block' | 'transaction' }> =>
  subscription.kind === 'block' || subscription.kind === 'transaction';

/** What a feed may reject with; anything else that reading the chain came to is an upstream that is not there. */
function toFeedError(network: Network, fault: unknown): FeedError {
  if (fault instanceof Failure || fault instanceof RpcError) return fault;
  return new Failure('UPSTREAM_UNAVAILABLE', { facts: { network }, cause: fault });
}

/** Nothing of this will change before the configuration does. */
const noFeed = (network: Network): Failure =>
  new Failure('UPSTREAM_UNAVAILABLE', { facts: { network, feeds: 0 }, retryAfter: NO_FEED_RETRY_S });

const NO_FEED_RETRY_S = 60;

/** Whether another feed may have what this one has not: it is away, and did not say no. */
const isUnavailable = (fault: unknown): boolean => fault instanceof Failure && fault.row.owner === 'upstream';

/**
 * The feed of one network's nodes: blocks and transactions from the blocks that nodes give, everything else from
 * their PubSub; or all of it from a preferred feed, for the kinds that it serves, while it is there.
 */
export function createFeed(options: FeedOptions): NetworkFeed {
  const { network, pool, nodes, log } = options;
  const limits = { ...feedLimits, ...options.limits };
  const reader = new ChainReader({ network, pool, limits, log });
  const preferred = options.preferred?.(reader) ?? null;
  const pubsub = new PubsubFeed({ network, nodes, status: () => pool.status(), limits, log, reader });
  const slotFeed = (): PreferredFeed | null =>
    !pubsub.any && preferred !== null && preferred.serves('slot') ? preferred : null;
  const blocks = new BlockFollower({
    network,
    reader,
    limits,
    log,
    pubsub: {
      open: (slots, listener) => (slotFeed() ?? pubsub).open(slots, listener),
      networkSlot: () => pubsub.networkSlot(),
    },
  });

  const openPlain = (subscription: Subscription, listener: FeedListener): Promise<() => void> =>
    isBlockBased(subscription) ? blocks.open(subscription, listener) : pubsub.open(subscription, listener);

  /** What the preferred feed gives up goes on from PubSub, where PubSub has it. */
  const openFrom = (
    feed: PreferredFeed,
    subscription: Subscription,
    listener: FeedListener,
  ): Promise<() => void> => {
    const { kind } = subscription;
    if (kind === 'block' || !pubsub.any) return feed.open(subscription, listener);
    const onFailover = (): void =>
      log.warn({ network, kind }, 'PubSub takes a subscription over from Geyser');
    if (kind === 'transaction') {
      return openPreferredTransactions({ preferred: feed, blocks, onFailover }, subscription, listener);
    }
    const continuity = continuityOf(subscription, limits.seenMax);
    return openPreferred({ preferred: feed, pubsub, continuity, onFailover }, subscription, listener);
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
          if (!isUnavailable(fault)) throw fault;
          log.warn({ network, kind: subscription.kind }, 'the Geyser feed is away: PubSub takes its place');
        }
      }
      try {
        return await openPlain(subscription, listener);
      } catch (fault) {
        throw toFeedError(network, fault);
      }
    },
    setNodes(nodes) {
      pubsub.setNodes(nodes);
      preferred?.setNodes(nodes);
      return preferred !== null || !nodes.some(({ grpc }) => typeof grpc === 'string');
    },
    close() {
      preferred?.close();
      blocks.close();
      pubsub.close();
    },
  };
}
