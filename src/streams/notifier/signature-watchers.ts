import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Signature } from '../../solana/signature.ts';
import type { TransactionError } from '../../solana/transaction/transaction-error.ts';
import type { Slot } from '../../solana/units.ts';
import type { FeedListener } from '../feed.ts';
import { resultIn } from './account-notification.ts';
import { WatchIndex } from './account-watchers.ts';
import type { TransactionNotification } from './transaction-notification.ts';

export type SignatureStatus = Readonly<{ slot: Slot; err: TransactionError | null }>;

type Watcher = {
  readonly signature: Signature;
  readonly listener: FeedListener;
  awaitsReceipt: boolean;
};

const RECEIVED = 'receivedSignature';

/** Notifies each watcher of its transaction's outcome, at most once. */
export class SignatureWatchers {
  readonly #bySignature = new WatchIndex<Signature, Watcher>();
  /** Watchers whose transaction may have landed before they subscribed. */
  readonly #maybeLanded = new Set<Watcher>();

  get isEmpty(): boolean {
    return this.#bySignature.isEmpty;
  }

  add({ signature, received }: SubscriptionOf<'signature'>, listener: FeedListener): () => void {
    const watcher: Watcher = { signature, listener, awaitsReceipt: received };
    this.#bySignature.add(signature, watcher);
    this.#maybeLanded.add(watcher);
    return () => this.#end(watcher);
  }

  matches(notification: TransactionNotification): boolean {
    return notification.signature !== undefined && this.#bySignature.has(notification.signature);
  }

  notifyReceived(signature: Signature, slot: Slot): void {
    const watchers = this.#bySignature.of(signature);
    if (watchers === undefined) return;
    let result: Buffer | null = null;
    for (const watcher of watchers) {
      if (!watcher.awaitsReceipt) continue;
      watcher.awaitsReceipt = false;
      result ??= resultIn(slot, RECEIVED);
      watcher.listener.onNotification(result, false);
    }
  }

  notify(notification: TransactionNotification): void {
    if (notification.signature === undefined) return;
    const watchers = this.#bySignature.of(notification.signature);
    if (watchers === undefined) return;
    for (const watcher of watchers) this.#notifyOutcome(watcher, notification.statusResult());
  }

  notifyLanded(slot: Slot, statusOf: (signature: Signature) => SignatureStatus | null): void {
    for (const watcher of this.#maybeLanded) {
      const status = statusOf(watcher.signature);
      if (status === null) this.#maybeLanded.delete(watcher);
      else if (status.slot <= slot) this.#notifyOutcome(watcher, resultIn(slot, { err: status.err }));
    }
  }

  #notifyOutcome(watcher: Watcher, result: Buffer): void {
    this.#end(watcher);
    watcher.listener.onNotification(result, true);
  }

  #end(watcher: Watcher): void {
    this.#bySignature.delete(watcher.signature, watcher);
    this.#maybeLanded.delete(watcher);
  }
}
