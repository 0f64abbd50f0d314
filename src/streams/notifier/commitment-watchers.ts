import type { Failure } from '../../protocol/errors.ts';
import type { Subscription } from '../../protocol/subscriptions.ts';
import type { FeedListener } from '../feed.ts';
import { AccountWatchers } from './account-watchers.ts';
import { BlockWatchers } from './block-watchers.ts';
import type { HeldSlot } from './held-slot.ts';
import { LogsWatchers } from './logs-watchers.ts';
import { ProgramWatchers } from './program-watchers.ts';
import { SignatureWatchers } from './signature-watchers.ts';
import type { ToldAccount } from './told-account.ts';
import type { ToldTransaction } from './told-transaction.ts';
import { TransactionWatchers } from './transaction-watchers.ts';

type CommittedSubscription = Extract<Subscription, { commitment: unknown }>;

/** Everybody who watches slots as they reach one commitment, by kind of subscription. */
export class CommitmentWatchers {
  readonly account = new AccountWatchers();
  readonly program = new ProgramWatchers();
  readonly logs = new LogsWatchers();
  readonly signature = new SignatureWatchers();
  readonly transaction = new TransactionWatchers();
  readonly block = new BlockWatchers();
  readonly #listening = new Set<Readonly<{ listener: FeedListener }>>();

  add(subscription: CommittedSubscription, listener: FeedListener): () => void {
    const listening = { listener };
    this.#listening.add(listening);
    const end = this.#watch(subscription, {
      notify: (result, last) => {
        if (last) this.#listening.delete(listening);
        listener.notify(result, last);
      },
      fail: (failure) => listener.fail(failure),
    });
    return () => {
      this.#listening.delete(listening);
      end();
    };
  }

  /** Whether somebody here is owed something of a slot. */
  isOwed(held: HeldSlot): boolean {
    if (!this.block.isEmpty && (held.block !== null || held.expectsBlock)) return true;
    for (const told of held.accounts.values()) if (this.wantsAccount(told)) return true;
    return held.transactions.some((told) => this.wantsTransaction(told));
  }

  /** Tells everybody that nothing more comes. */
  failAll(failure: Failure): void {
    for (const { listener } of this.#listening) listener.fail(failure);
    this.#listening.clear();
  }

  #watch(subscription: CommittedSubscription, listener: FeedListener): () => void {
    switch (subscription.kind) {
      case 'account':
        return this.account.add(subscription, listener);
      case 'program':
        return this.program.add(subscription, listener);
      case 'logs':
        return this.logs.add(subscription, listener);
      case 'signature':
        return this.signature.add(subscription, listener);
      case 'transaction':
        return this.transaction.add(subscription, listener);
      case 'block':
        return this.block.add(subscription, listener);
    }
  }

  get wantsAccounts(): boolean {
    return !(this.account.isEmpty && this.program.isEmpty);
  }

  wantsAccount(told: ToldAccount): boolean {
    return this.account.wants(told) || this.program.wants(told);
  }

  tellAccount(told: ToldAccount): void {
    this.account.tell(told);
    this.program.tell(told);
  }

  get wantsTransactions(): boolean {
    return !(this.logs.isEmpty && this.signature.isEmpty && this.transaction.isEmpty);
  }

  wantsTransaction(told: ToldTransaction): boolean {
    return this.signature.wants(told) || this.logs.wants(told) || this.transaction.wants(told);
  }

  tellTransaction(told: ToldTransaction): void {
    this.logs.tell(told);
    this.transaction.tell(told);
    this.signature.tell(told);
  }
}
