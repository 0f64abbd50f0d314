import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Slot } from '../../solana/units.ts';
import type { FeedListener } from '../../streams/feed.ts';
import type { NodeConfig } from '../node.ts';
import type { ChainReader } from './chain-reader.ts';
import { ContinuousSubscription, type SubscriptionContext } from './continuous-subscription.ts';
import { createGapRecovery } from './gap/create-gap-recovery.ts';
import type { GapRecovery } from './gap/gap-recovery.ts';
import type { PubsubSubscription, SlotInfo } from './pubsub-message.ts';
import { PubsubNodes, type PubsubNodesOptions } from './pubsub-nodes.ts';

/**
 * When a connection closes, stalls or lags, its subscriptions fail over, and the code in gap/ uses the node pool to
 * read what they missed. At `processed`, a gap is filled from confirmed blocks, so abandoned forks are not emitted.
 */
export class PubsubFeed {
  readonly #context: SubscriptionContext;
  readonly #open = new Set<ContinuousSubscription>();
  #isClosed = false;

  constructor(options: PubsubNodesOptions & Readonly<{ reader: ChainReader }>) {
    const { network, limits, log, reader } = options;
    this.#context = {
      network,
      limits,
      log,
      reader,
      nodes: new PubsubNodes(options),
      failoverSemaphore: new Semaphore(limits.failoversMax),
      fillSemaphore: new Semaphore(limits.gapFillsMax),
    };
  }

  get any(): boolean {
    return this.#context.nodes.any;
  }

  setNodes(nodes: readonly NodeConfig[]): void {
    if (!this.#isClosed) this.#context.nodes.setNodes(nodes);
  }

  networkSlot(): Slot | null {
    return this.#context.nodes.networkSlot();
  }

  position(): SlotInfo | null {
    return this.#context.nodes.networkPosition();
  }

  /** @throws like `ContinuousSubscription.open`; also Failure UPSTREAM_UNAVAILABLE without nodes or after `close`. */
  async open(subscription: PubsubSubscription, listener: FeedListener): Promise<() => void> {
    const { nodes, network } = this.#context;
    if (!nodes.any || this.#isClosed) throw new Failure('UPSTREAM_UNAVAILABLE', { facts: { network } });
    const gapRecovery = createGapRecovery(subscription, this.#context.limits.seenMax);
    const continuous = this.#add(subscription, gapRecovery, listener);
    try {
      await continuous.open();
    } catch (fault) {
      continuous.close();
      throw fault;
    }
    return () => continuous.close();
  }

  /**
   * Takes over a subscription from another feed, whose notifications `before.gapRecovery` has processed. Emits missed
   * notifications first.
   */
  resume(
    subscription: PubsubSubscription,
    listener: FeedListener,
    before: Readonly<{ gapRecovery: GapRecovery; opened: SlotInfo | null; from: SlotInfo | null }>,
  ): () => void {
    if (this.#isClosed) return () => {};
    const continuous = this.#add(subscription, before.gapRecovery, listener);
    continuous.resume(before.opened, before.from);
    return () => continuous.close();
  }

  close(): void {
    this.#isClosed = true;
    for (const continuous of [...this.#open]) continuous.close();
    this.#context.nodes.close();
  }

  #add(
    subscription: PubsubSubscription,
    gapRecovery: GapRecovery,
    listener: FeedListener,
  ): ContinuousSubscription {
    const added = new ContinuousSubscription(this.#context, subscription, gapRecovery, listener, () =>
      this.#open.delete(added),
    );
    this.#open.add(added);
    return added;
  }
}
