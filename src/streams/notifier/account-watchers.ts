import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { AccountEncoding } from '../../solana/encoding/encodings.ts';
import type { FeedListener } from '../feed.ts';
import type { AccountNotification } from './account-notification.ts';

export class WatchIndex<Key, Watcher> {
  readonly #byKey = new Map<Key, Set<Watcher>>();

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  add(key: Key, watcher: Watcher): void {
    const watchers = this.#byKey.get(key);
    if (watchers === undefined) this.#byKey.set(key, new Set([watcher]));
    else watchers.add(watcher);
  }

  delete(key: Key, watcher: Watcher): void {
    const watchers = this.#byKey.get(key);
    if (watchers === undefined) return;
    watchers.delete(watcher);
    if (watchers.size === 0) this.#byKey.delete(key);
  }

  has(key: Key): boolean {
    return this.#byKey.has(key);
  }

  of(key: Key): ReadonlySet<Watcher> | undefined {
    return this.#byKey.get(key);
  }
}

type Watcher = Readonly<{ encoding: AccountEncoding; listener: FeedListener }>;

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
