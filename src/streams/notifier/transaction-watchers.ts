import type { Address } from '../../ledger/address.ts';
import type { Signature } from '../../ledger/signature.ts';
import {
  type SubscriptionOf,
  type TokenAccountMode,
  type TransactionFilter,
  tokenAccountModes,
} from '../../protocol/subscriptions.ts';
import type { FeedListener } from '../feed.ts';
import type { ToldTransaction } from './told-transaction.ts';
import { type TransactionShape, transactionShape } from './transaction-result.ts';
import { WatchIndex } from './watch-index.ts';

type Watcher = Readonly<{
  filter: TransactionFilter;
  shape: TransactionShape;
  listener: FeedListener;
}>;

/** Whether a transaction has all that a filter asks for. */
function matches(filter: TransactionFilter, told: ToldTransaction): boolean {
  const { vote, failed, signature, include, exclude, required, tokenAccounts } = filter;
  if (vote !== null && vote !== told.isVote) return false;
  if (failed !== null && failed !== (told.executed.meta.err !== null)) return false;
  if (signature !== null && signature !== told.signature) return false;
  const keys = told.keys(tokenAccounts);
  if (include.length > 0 && !include.some((address) => keys.has(address))) return false;
  return required.every((address) => keys.has(address)) && !exclude.some((address) => keys.has(address));
}

/** Addresses one of which a transaction must mention to match; null when it need mention none. */
function lureOf({ required, include }: TransactionFilter): readonly Address[] | null {
  if (required.length > 0) return required.slice(0, 1);
  return include.length > 0 ? include : null;
}

/** Who watches transactions: found by the signature or by the addresses that the filter asks for. */
export class TransactionWatchers {
  /** Those who name neither a signature nor an address. */
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
    const lure = lureOf(filter);
    if (lure !== null) return this.#addTo(this.#byKey[filter.tokenAccounts], lure, watcher);
    this.#others.add(watcher);
    return () => this.#others.delete(watcher);
  }

  #addTo<Key>(index: WatchIndex<Key, Watcher>, keys: readonly Key[], watcher: Watcher): () => void {
    for (const key of keys) index.add(key, watcher);
    return () => {
      for (const key of keys) index.delete(key, watcher);
    };
  }

  wants(told: ToldTransaction): boolean {
    if (this.isEmpty) return false;
    for (const watcher of this.#candidates(told)) if (matches(watcher.filter, told)) return true;
    return false;
  }

  tell(told: ToldTransaction): void {
    if (this.isEmpty) return;
    for (const { filter, shape, listener } of this.#candidates(told)) {
      if (!matches(filter, told)) continue;
      const result = told.result(shape);
      if (result !== null) listener.notify(result, false);
    }
  }

  /** Each watcher whom the transaction may concern, once. */
  #candidates(told: ToldTransaction): ReadonlySet<Watcher> {
    const candidates = new Set(this.#others);
    if (told.signature !== undefined) addAll(candidates, this.#bySignature.of(told.signature));
    for (const mode of tokenAccountModes) {
      const index = this.#byKey[mode];
      if (index.isEmpty) continue;
      for (const key of told.keys(mode)) addAll(candidates, index.of(key));
    }
    return candidates;
  }
}

function addAll<Element>(set: Set<Element>, elements: ReadonlySet<Element> | undefined): void {
  if (elements === undefined) return;
  for (const element of elements) set.add(element);
}
