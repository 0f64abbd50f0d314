import type { Signature } from '../../ledger/signature.ts';
import type { TransactionError } from '../../ledger/transaction/transaction-error.ts';
import type { Slot } from '../../ledger/units.ts';
import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { FeedListener } from '../feed.ts';
import { resultIn } from './result-json.ts';
import type { ToldTransaction } from './told-transaction.ts';
import { WatchIndex } from './watch-index.ts';

/** Where a transaction landed and what came of it. */
export type SignatureStatus = Readonly<{ slot: Slot; err: TransactionError | null }>;

type Watcher = {
  readonly signature: Signature;
  readonly listener: FeedListener;
  /** Whether it still waits to be told that the transaction was received. */
  awaitsReceipt: boolean;
};

const RECEIVED = 'receivedSignature';

/** Who waits for which transaction. Each is told its outcome once, and is over with that. */
export class SignatureWatchers {
  readonly #bySignature = new WatchIndex<Signature, Watcher>();
  /** Those whose transaction may have landed before they came. */
  readonly #late = new Set<Watcher>();

  get isEmpty(): boolean {
    return this.#bySignature.isEmpty;
  }

  add({ signature, received }: SubscriptionOf<'signature'>, listener: FeedListener): () => void {
    const watcher: Watcher = { signature, listener, awaitsReceipt: received };
    this.#bySignature.add(signature, watcher);
    this.#late.add(watcher);
    return () => this.#end(watcher);
  }

  wants(told: ToldTransaction): boolean {
    return told.signature !== undefined && this.#bySignature.has(told.signature);
  }

  /** A transaction was seen, whatever becomes of it. */
  tellReceived(signature: Signature, slot: Slot): void {
    const watchers = this.#bySignature.of(signature);
    if (watchers === undefined) return;
    let result: Buffer | null = null;
    for (const watcher of watchers) {
      if (!watcher.awaitsReceipt) continue;
      watcher.awaitsReceipt = false;
      result ??= resultIn(slot, RECEIVED);
      watcher.listener.notify(result, false);
    }
  }

  tell(told: ToldTransaction): void {
    if (told.signature === undefined) return;
    const watchers = this.#bySignature.of(told.signature);
    if (watchers === undefined) return;
    for (const watcher of watchers) this.#tellOutcome(watcher, told.statusResult());
  }

  /** A bank came: whoever waits for a transaction that is in it, or in one before it, is told now. */
  tellLate(slot: Slot, statusOf: (signature: Signature) => SignatureStatus | null): void {
    for (const watcher of this.#late) {
      const status = statusOf(watcher.signature);
      if (status === null) this.#late.delete(watcher);
      else if (status.slot <= slot) this.#tellOutcome(watcher, resultIn(slot, { err: status.err }));
    }
  }

  #tellOutcome(watcher: Watcher, result: Buffer): void {
    this.#end(watcher);
    watcher.listener.notify(result, true);
  }

  #end(watcher: Watcher): void {
    this.#bySignature.delete(watcher.signature, watcher);
    this.#late.delete(watcher);
  }
}
