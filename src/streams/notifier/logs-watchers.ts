import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { FeedListener } from '../feed.ts';
import { WatchIndex } from './account-watchers.ts';

/** The part of `TransactionNotification` that logs subscriptions need. */
type LoggedTransaction = Readonly<{
  isVote: boolean;
  keys(mode: 'none'): ReadonlySet<Address>;
  logsResult(): Buffer | null;
}>;

type Watcher = Readonly<{ listener: FeedListener }>;

export class LogsWatchers {
  readonly #all = new Set<Watcher>();
  readonly #allWithVotes = new Set<Watcher>();
  readonly #byMention = new WatchIndex<Address, Watcher>();

  get isEmpty(): boolean {
    return this.#all.size === 0 && this.#allWithVotes.size === 0 && this.#byMention.isEmpty;
  }

  add({ of }: SubscriptionOf<'logs'>, listener: FeedListener): () => void {
    const watcher: Watcher = { listener };
    if (typeof of === 'object') {
      this.#byMention.add(of.mentions, watcher);
      return () => this.#byMention.delete(of.mentions, watcher);
    }
    const watchers = of === 'all' ? this.#all : this.#allWithVotes;
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }

  matches(notification: LoggedTransaction): boolean {
    if (this.#allWithVotes.size > 0 || (this.#all.size > 0 && !notification.isVote)) return true;
    if (this.#byMention.isEmpty) return false;
    for (const key of notification.keys('none')) if (this.#byMention.has(key)) return true;
    return false;
  }

  notify(notification: LoggedTransaction): void {
    if (!this.matches(notification)) return;
    const result = notification.logsResult();
    if (result === null) return;
    if (!notification.isVote) notifyAll(this.#all, result);
    notifyAll(this.#allWithVotes, result);
    if (this.#byMention.isEmpty) return;
    for (const key of notification.keys('none')) notifyAll(this.#byMention.of(key), result);
  }
}

function notifyAll(watchers: ReadonlySet<Watcher> | undefined, result: Buffer): void {
  if (watchers === undefined) return;
  for (const { listener } of watchers) listener.onNotification(result, false);
}
