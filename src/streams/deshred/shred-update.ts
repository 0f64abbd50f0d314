import { deshredTransactionTail } from '../../protocol/geyser/encode/deshred.ts';
import { rawShredTransaction } from '../../protocol/geyser/encode/raw-transaction.ts';
import type { RawTransaction } from '../../protocol/geyser/raw-update.ts';
import type { DeshredTransaction } from './deshred-event.ts';

/** A transaction of the shred stage for filters. Most match no filter, so it is encoded on first use. */
abstract class LazyTransaction implements RawTransaction {
  readonly kind = 'transaction';
  readonly err = null;
  readonly meta = null;
  readonly createdAt: Uint8Array;
  readonly index: number;
  protected readonly source: DeshredTransaction;

  /** @param index - position among the emitted transactions of its slot. */
  constructor(source: DeshredTransaction, createdAt: Uint8Array, index: number) {
    this.source = source;
    this.createdAt = createdAt;
    this.index = index;
  }

  abstract readonly tail: Uint8Array;
  abstract readonly info: Uint8Array;

  get slot(): RawTransaction['slot'] {
    return this.source.slot;
  }

  get signature(): Uint8Array {
    return this.source.signature;
  }

  get isVote(): boolean {
    return this.source.isVote;
  }

  get keys(): RawTransaction['keys'] {
    return this.source.keys;
  }
}

/** Encoded for `Subscribe`: a `SubscribeUpdateTransaction` without meta. */
export class SubscribeTransaction extends LazyTransaction {
  #encoded: RawTransaction | null = null;

  get tail(): Uint8Array {
    return this.#encode().tail;
  }

  get info(): Uint8Array {
    return this.#encode().info;
  }

  #encode(): RawTransaction {
    const { slot, signature, isVote, keys, createdAt, index } = this;
    const { transaction } = this.source;
    this.#encoded ??= rawShredTransaction({ slot, createdAt, signature, isVote, transaction, keys, index });
    return this.#encoded;
  }
}

export class SubscribeDeshredTransaction extends LazyTransaction {
  #tail: Uint8Array | null = null;

  get tail(): Uint8Array {
    this.#tail ??= this.#encode();
    return this.#tail;
  }

  /** Unused: never part of a block. */
  get info(): Uint8Array {
    return this.tail;
  }

  #encode(): Uint8Array {
    const { slot, signature, isVote, createdAt } = this;
    const { transaction, loadedWritable, loadedReadonly, firstShredIndex, endShredIndex } = this.source;
    return deshredTransactionTail({
      ...{ slot, createdAt, signature, isVote, transaction },
      ...{ loadedWritable, loadedReadonly, firstShredIndex, endShredIndex },
    });
  }
}
