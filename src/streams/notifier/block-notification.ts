import type { WritableJson } from '../../base/json.ts';
import type { SubscriptionOf, TransactionView } from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { Block, ExecutedTransaction } from '../../solana/block.ts';
import { blockOrder, inDeclaredOrder } from '../../solana/encoding/declared-order.ts';
import { encodeBlock } from '../../solana/encoding/ui-block.ts';
import type { Slot } from '../../solana/units.ts';
import { resultIn } from './account-notification.ts';

export type BlockShape = TransactionView &
  Readonly<{
    /** Equal for equal shapes. */
    name: string;
  }>;

/** The encoding options of a subscription, without its filter. */
export function blockShape(subscription: SubscriptionOf<'block'>): BlockShape {
  const { encoding, details, rewards, maxVersion } = subscription;
  const name = [encoding, details, rewards, maxVersion].join();
  return { encoding, details, rewards, maxVersion, name };
}

/** Source: Agave rpc-client-types/src/response.rs, `RpcBlockUpdate`. */
const blockUpdate = (slot: Slot, block: WritableJson, err: WritableJson): Buffer =>
  resultIn(slot, { slot, block, err });

function blockResult(block: Block, shape: BlockShape): Buffer {
  const encoded = encodeBlock(block, shape);
  return 'json' in encoded
    ? blockUpdate(block.slot, inDeclaredOrder(encoded.json, blockOrder), null)
    : blockUpdate(block.slot, null, { UnsupportedTransactionVersion: encoded.unsupportedVersion });
}

/** Result for an unavailable block. */
export const noBlockResult = (slot: Slot): Buffer => blockUpdate(slot, null, 'BlockStoreError');

/** A block, encoded once per shape. */
export class BlockNotification {
  readonly block: Block;
  readonly #results = new Map<string, Buffer>();

  constructor(block: Block) {
    this.block = block;
  }

  result(shape: BlockShape): Buffer {
    return this.#resultFor(shape.name, this.block, shape);
  }

  /** Only the transactions that mention an address. */
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
    const result = blockResult(block, shape);
    this.#results.set(name, result);
    return result;
  }
}
