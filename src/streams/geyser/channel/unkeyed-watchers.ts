import type { RawTransaction } from '../../../protocol/geyser/raw-update.ts';
import type { TransactionRule } from '../filters/transaction-rule.ts';
import type { Watcher } from './watcher.ts';

type TransactionWatcher = Watcher<TransactionRule>;

const listIndex = (isVote: boolean, hasFailed: boolean): number => (isVote ? 1 : 0) + (hasFailed ? 2 : 0);

/** Filters of transactions that name no key, by what they say of votes and of those that failed. */
export class UnkeyedWatchers {
  /** By `placeOf`; a filter that says nothing of either is in all. */
  #lists: TransactionWatcher[][] = [[], [], [], []];

  add(watcher: TransactionWatcher): void {
    for (const isVote of [false, true]) {
      for (const hasFailed of [false, true]) {
        if (watcher.rule.passesStatus(isVote, hasFailed))
          this.#lists[listIndex(isVote, hasFailed)]?.push(watcher);
      }
    }
  }

  /** Removes those that are gone. */
  sweep(): void {
    this.#lists = this.#lists.map((list) => list.filter(({ isRemoved }) => !isRemoved));
  }

  /** Those that a transaction may pass. */
  of({ isVote, err }: RawTransaction): readonly TransactionWatcher[] {
    return this.#lists[listIndex(isVote, err !== null)] as TransactionWatcher[];
  }
}
