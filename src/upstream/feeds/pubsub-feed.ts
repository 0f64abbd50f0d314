import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Slot } from '../../solana/units.ts';
import type { FeedListener } from '../../streams/feed.ts';
import type { NodeConfig } from '../node.ts';
import type { ChainReader } from './chain-reader.ts';
import { ContinuousSubscription, type SubscriptionContext } from './continuous-subscription.ts';
import type { Continuity } from './gap/continuity.ts';
import type { PubsubSubscription } from './gap/continuity-of.ts';
import type { SlotInfo } from './pubsub-message.ts';
import { PubsubNodes, type PubsubNodesOptions } from './pubsub-nodes.ts';

type PubsubFeedOptions = PubsubNodesOptions & Readonly<{ reader: ChainReader }>;

/**
 * Feeds subscriptions from the PubSub of a network's nodes. A connection that closes, stands still or falls behind
 * is left, its subscriptions move to other nodes, and what they missed is read through the pool: listeners notice
 * a pause. What each kind does about a gap is written in gap/. At `processed` a gap is filled from confirmed
 * blocks, so forks within it are not told.
 */
export class PubsubFeed {
  readonly #context: SubscriptionContext;
  readonly #open = new Set<ContinuousSubscription>();
  #isClosed = false;

  constructor(options: PubsubFeedOptions) {
    const { network, limits, log, reader } = options;
    this.#context = {
      network,
      limits,
      log,
      reader,
      nodes: new PubsubNodes(options),
      moveSemaphore: new Semaphore(limits.movesMax),
      fillSemaphore: new Semaphore(limits.gapFillsMax),
    };
  }

  /** Whether any node has PubSub at all. */
  get any(): boolean {
    return this.#context.nodes.any;
  }

  /** Listens to these nodes from now on; what stood on others moves, and hears what it missed. */
  setNodes(nodes: readonly NodeConfig[]): void {
    if (!this.#isClosed) this.#context.nodes.setNodes(nodes);
  }

  /** The newest slot that is believed; null while unknown. */
  networkSlot(): Slot | null {
    return this.#context.nodes.networkSlot();
  }

  /** About how far the network is; null while unknown. */
  position(): SlotInfo | null {
    return this.#context.nodes.networkPosition();
  }

  /**
   * Begins to feed a subscription.
   * @returns what ends it.
   * @throws RpcError with a node's own refusal, when every node refused; Failure UPSTREAM_UNAVAILABLE when nobody
   * could be asked or after `close`, MESSAGE_TOO_LARGE when nodes would not read so long a request, OVERLOADED at
   * once when they have no room.
   */
  async open(subscription: PubsubSubscription, listener: FeedListener): Promise<() => void> {
    const { nodes, network } = this.#context;
    if (!nodes.any || this.#isClosed) throw new Failure('UPSTREAM_UNAVAILABLE', { facts: { network } });
    const continuous = new ContinuousSubscription(this.#context, subscription, listener, () =>
      this.#open.delete(continuous),
    );
    this.#open.add(continuous);
    try {
      await continuous.open();
    } catch (fault) {
      continuous.close();
      throw fault;
    }
    return () => continuous.close();
  }

  /**
   * Goes on with a subscription where another feed left it. What was missed is told first; the listener's `fail`
   * says when that cannot be.
   * @param before.continuity - judged all that the other feed told.
   * @returns what ends it.
   */
  resume(
    subscription: PubsubSubscription,
    listener: FeedListener,
    before: Readonly<{ continuity: Continuity; opened: SlotInfo | null; from: SlotInfo | null }>,
  ): () => void {
    if (this.#isClosed) return () => {};
    const continuous = new ContinuousSubscription(
      this.#context,
      subscription,
      listener,
      () => this.#open.delete(continuous),
      before.continuity,
    );
    this.#open.add(continuous);
    continuous.resume(before.opened, before.from);
    return () => continuous.close();
  }

  /** Ends every subscription and every connection; listeners are not told. */
  close(): void {
    this.#isClosed = true;
    for (const continuous of [...this.#open]) continuous.close();
    this.#context.nodes.close();
  }
}
