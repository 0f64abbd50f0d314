import type { Address } from '../../ledger/address.ts';
import type { AccountEncoding } from '../../ledger/encoding/ui-account.ts';
import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { FeedListener } from '../feed.ts';
import type { ToldAccount } from './told-account.ts';
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

  wants(told: ToldAccount): boolean {
    return this.#byAddress.has(told.address);
  }

  tell(told: ToldAccount): void {
    const watchers = this.#byAddress.of(told.address);
    if (watchers === undefined) return;
    for (const { encoding, listener } of watchers) listener.notify(told.result(encoding), false);
  }
}
