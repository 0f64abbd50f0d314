import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { AccountEncoding } from '../../solana/encoding/ui-account.ts';
import type { FeedListener } from '../feed.ts';
import type { AccountNotification } from './account-notification.ts';
import { WatchIndex } from './watch-index.ts';

type Watcher = Readonly<{ encoding: AccountEncoding; listener: FeedListener }>;

/** Who watches which account. */
export class AccountWatchers {
  readonly #byAddress = new WatchIndex<Address, Watcher>();

  get isEmpty(): boolean {
    return this.#byAddress.isEmpty;
  }

  add({ address, encoding }: SubscriptionOf<'account'>, listener: FeedListener): () => void {
    const watcher: Watcher = { encoding, listener };
    this.#byAddress.add(address, watcher);
    return () => this.#byAddress.delete(address, watcher);
  }

  matches(notification: AccountNotification): boolean {
    return this.#byAddress.has(notification.address);
  }

  notify(notification: AccountNotification): void {
    const watchers = this.#byAddress.of(notification.address);
    if (watchers === undefined) return;
    for (const { encoding, listener } of watchers)
      listener.onNotification(notification.result(encoding), false);
  }
}
