import {
  type SubscriptionOf,
  type TokenAccountMode,
  type TransactionFilter,
  tokenAccountModes,
} from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { Signature } from '../../solana/signature.ts';
import type { FeedListener } from '../feed.ts';
import { WatchIndex } from './account-watchers.ts';
import {
  type TransactionNotification,
  type TransactionShape,
  transactionShape,
} from './transaction-notification.ts';

type Watcher = Readonly<{
  filter: TransactionFilter;
  shape: TransactionShape;
  listener: FeedListener;
}>;

function matchesFilter(filter: TransactionFilter, notification: TransactionNotification): boolean {
  const { vote, failed, signature, include, exclude, required, tokenAccounts } = filter;
  if (vote !== null && vote !== notification.isVote) return false;
  if (failed !== null && failed !== (notification.executed.meta.err !== null)) return false;
  if (signature !== null && signature !== notification.signature) return false;
  const keys = notification.keys(tokenAccounts);
  if (include.length > 0 && !include.some((address) => keys.has(address))) return false;
  return required.every((address) => keys.has(address)) && !exclude.some((address) => keys.has(address));
}

/** Returns keys of which every matching transaction mentions at least one; null if any transaction may match. */
function indexKeysOf({ required, include }: TransactionFilter): readonly Address[] | null {
  if (required.length > 0) return required.slice(0, 1);
  return include.length > 0 ? include : null;
}

export class TransactionWatchers {
  readonly #others = new Set<Watcher>();
  readonly #bySignature = new WatchIndex<Signature, Watcher>();
  readonly #byKey: Readonly<Record<TokenAccountMode, WatchIndex<Address, Watcher>>> = {
    none: new WatchIndex(),
    balanceChanged: new WatchIndex(),
    all: new WatchIndex(),
  };

  get isEmpty(): boolean {
    if (this.#others.size > 0 || !this.#bySignature.isEmpty) return false;
    return tokenAccountModes.every((mode) => this.#byKey[mode].isEmpty);
  }

  add(subscription: SubscriptionOf<'transaction'>, listener: FeedListener): () => void {
    const { filter } = subscription;
    const watcher: Watcher = { filter, shape: transactionShape(subscription), listener };
    const { signature } = filter;
    if (signature !== null) return this.#addTo(this.#bySignature, [signature], watcher);
    const indexKeys = indexKeysOf(filter);
    if (indexKeys !== null) return this.#addTo(this.#byKey[filter.tokenAccounts], indexKeys, watcher);
    this.#others.add(watcher);
    return () => this.#others.delete(watcher);
  }

  #addTo<Key>(index: WatchIndex<Key, Watcher>, keys: readonly Key[], watcher: Watcher): () => void {
    for (const key of keys) index.add(key, watcher);
    return () => {
      for (const key of keys) index.delete(key, watcher);
    };
  }

  matches(notification: TransactionNotification): boolean {
    if (this.isEmpty) return false;
    for (const watcher of this.#candidates(notification))
      if (matchesFilter(watcher.filter, notification)) return true;
    return false;
  }

  notify(notification: TransactionNotification): void {
    if (this.isEmpty) return;
    for (const { filter, shape, listener } of this.#candidates(notification)) {
      if (!matchesFilter(filter, notification)) continue;
      const result = notification.result(shape);
      if (result !== null) listener.onNotification(result, false);
    }
  }

  #candidates(notification: TransactionNotification): ReadonlySet<Watcher> {
    const candidates = new Set(this.#others);
    if (notification.signature !== undefined)
      addAll(candidates, this.#bySignature.of(notification.signature));
    for (const mode of tokenAccountModes) {
      const index = this.#byKey[mode];
      if (index.isEmpty) continue;
      for (const key of notification.keys(mode)) addAll(candidates, index.of(key));
    }
    return candidates;
  }
}

function addAll<Element>(set: Set<Element>, elements: ReadonlySet<Element> | undefined): void {
  if (elements === undefined) return;
  for (const element of elements) set.add(element);
}
