import type { Address } from '../../ledger/address.ts';
import type { ExecutedTransaction } from '../../ledger/block.ts';
import { allKeys } from '../../ledger/message/message-keys.ts';
import type { Slot } from '../../ledger/units.ts';
import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { FeedListener } from '../feed.ts';
import { type BlockShape, blockShape, noBlockResult, type ToldBlock } from './told-block.ts';
import { WatchIndex } from './watch-index.ts';

type Watcher = Readonly<{ shape: BlockShape; listener: FeedListener }>;

/** Who watches blocks, whole or for what mentions an address. */
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

  tell(told: ToldBlock): void {
    for (const { shape, listener } of this.#all) listener.notify(told.result(shape), false);
    if (this.#byMention.isEmpty) return;
    for (const [address, transactions] of this.#mentioned(told)) {
      for (const { shape, listener } of this.#byMention.of(address) ?? []) {
        listener.notify(told.mentioning(address, transactions, shape), false);
      }
    }
  }

  /** The block of a slot cannot be had. Who wants mentions is not told: there may be none. */
  tellMissing(slot: Slot): void {
    for (const { listener } of this.#all) listener.notify(noBlockResult(slot), false);
  }

  /** The transactions of the block by the watched addresses that they mention. */
  #mentioned({ block }: ToldBlock): Map<Address, ExecutedTransaction[]> {
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
