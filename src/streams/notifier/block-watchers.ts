import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { ExecutedTransaction } from '../../solana/block.ts';
import { allKeys } from '../../solana/message/message-keys.ts';
import type { Slot } from '../../solana/units.ts';
import type { FeedListener } from '../feed.ts';
import { WatchIndex } from './account-watchers.ts';
import { type BlockNotification, type BlockShape, blockShape, noBlockResult } from './block-notification.ts';

type Watcher = Readonly<{ shape: BlockShape; listener: FeedListener }>;

/** Watchers of blocks, complete or filtered by a mentioned address. */
export class BlockWatchers {
  readonly #all = new Set<Watcher>();
  readonly #byMention = new WatchIndex<Address, Watcher>();

  get isEmpty(): boolean {
    return this.#all.size === 0 && this.#byMention.isEmpty;
  }

  add(subscription: SubscriptionOf<'block'>, listener: FeedListener): () => void {
    const { mentions } = subscription;
    const watcher: Watcher = { shape: blockShape(subscription), listener };
    if (mentions === null) {
      this.#all.add(watcher);
      return () => this.#all.delete(watcher);
    }
    this.#byMention.add(mentions, watcher);
    return () => this.#byMention.delete(mentions, watcher);
  }

  notify(notification: BlockNotification): void {
    for (const { shape, listener } of this.#all) listener.onNotification(notification.result(shape), false);
    if (this.#byMention.isEmpty) return;
    for (const [address, transactions] of this.#mentioned(notification)) {
      for (const { shape, listener } of this.#byMention.of(address) ?? []) {
        listener.onNotification(notification.resultMentioning(address, transactions, shape), false);
      }
    }
  }

  /**
   * Reports an unavailable block. Watchers of mentions are not notified, since the block may contain none.
   */
  notifyMissing(slot: Slot): void {
    for (const { listener } of this.#all) listener.onNotification(noBlockResult(slot), false);
  }

  /** The block's transactions by the watched address that they mention. */
  #mentioned({ block }: BlockNotification): Map<Address, ExecutedTransaction[]> {
    const mentioned = new Map<Address, ExecutedTransaction[]>();
    for (const executed of block.transactions) {
      for (const key of allKeys(executed.transaction.message, executed.meta.loadedAddresses)) {
        if (!this.#byMention.has(key)) continue;
        const others = mentioned.get(key);
        if (others === undefined) mentioned.set(key, [executed]);
        else others.push(executed);
      }
    }
    return mentioned;
  }
}
