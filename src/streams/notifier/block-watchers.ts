import type { WritableJson } from '../../base/json.ts';
import type { SubscriptionOf, TransactionView } from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { Block, ExecutedTransaction } from '../../solana/block.ts';
import { blockOrder, inDeclaredOrder } from '../../solana/encoding/declared-order.ts';
import { encodeBlock } from '../../solana/encoding/ui-block.ts';
import { allKeys } from '../../solana/message/message-keys.ts';
import type { Slot } from '../../solana/units.ts';
import type { FeedListener } from '../feed.ts';
import { resultIn } from './account-notification.ts';
import { WatchIndex } from './account-watchers.ts';

type BlockShape = TransactionView & Readonly<{ name: string }>;

function blockShape(subscription: SubscriptionOf<'block'>): BlockShape {
  const { encoding, details, rewards, maxVersion } = subscription;
  const name = [encoding, details, rewards, maxVersion].join();
  return { encoding, details, rewards, maxVersion, name };
}

/** Source: Agave rpc-client-types/src/response.rs, `RpcBlockUpdate`. */
const blockUpdate = (slot: Slot, block: WritableJson, err: WritableJson): Buffer =>
  resultIn(slot, { slot, block, err });

/** A block, whose JSON is cached per shape. */
export class BlockNotification {
  readonly block: Block;
  readonly #results = new Map<string, Buffer>();

  constructor(block: Block) {
    this.block = block;
  }

  result(shape: BlockShape): Buffer {
    return this.#resultFor(shape.name, this.block, shape);
  }

  resultMentioning(
    address: Address,
    transactions: readonly ExecutedTransaction[],
    shape: BlockShape,
  ): Buffer {
    return this.#resultFor(`${address},${shape.name}`, { ...this.block, transactions }, shape);
  }

  #resultFor(name: string, block: Block, shape: BlockShape): Buffer {
    const existing = this.#results.get(name);
    if (existing !== undefined) return existing;
    const encoded = encodeBlock(block, shape);
    const result =
      'json' in encoded
        ? blockUpdate(block.slot, inDeclaredOrder(encoded.json, blockOrder), null)
        : blockUpdate(block.slot, null, { UnsupportedTransactionVersion: encoded.unsupportedVersion });
    this.#results.set(name, result);
    return result;
  }
}

type Watcher = Readonly<{ shape: BlockShape; listener: FeedListener }>;

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

  /** Reports an unavailable block, but not to watchers of mentions: the block may not mention their address. */
  notifyMissing(slot: Slot): void {
    for (const { listener } of this.#all)
      listener.onNotification(blockUpdate(slot, null, 'BlockStoreError'), false);
  }

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
