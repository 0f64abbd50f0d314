import type { Failure } from '../../protocol/errors.ts';
import type { Subscription } from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { FeedListener } from '../feed.ts';
import type { AccountNotification } from './account-notification.ts';
import { AccountWatchers } from './account-watchers.ts';
import { type BlockNotification, BlockWatchers } from './block-watchers.ts';
import { LogsWatchers } from './logs-watchers.ts';
import { ProgramWatchers } from './program-watchers.ts';
import { SignatureWatchers } from './signature-watchers.ts';
import type { TransactionNotification } from './transaction-notification.ts';
import { TransactionWatchers } from './transaction-watchers.ts';

/** A slot's notifications that have not yet been emitted at every commitment. */
type PendingNotifications = Readonly<{
  expectsBlock: boolean;
  block: BlockNotification | null;
  accounts: ReadonlyMap<Address, AccountNotification>;
  transactions: readonly TransactionNotification[];
}>;

type CommittedSubscription = Extract<Subscription, { commitment: unknown }>;

export class CommitmentWatchers {
  readonly account = new AccountWatchers();
  readonly program = new ProgramWatchers();
  readonly logs = new LogsWatchers();
  readonly signature = new SignatureWatchers();
  readonly transaction = new TransactionWatchers();
  readonly block = new BlockWatchers();
  readonly #listeners = new Set<Readonly<{ listener: FeedListener }>>();

  add(subscription: CommittedSubscription, listener: FeedListener): () => void {
    const entry = { listener };
    this.#listeners.add(entry);
    const end = this.#watch(subscription, {
      onNotification: (result, last) => {
        if (last) this.#listeners.delete(entry);
        listener.onNotification(result, last);
      },
      onError: (failure) => listener.onError(failure),
    });
    return () => {
      this.#listeners.delete(entry);
      end();
    };
  }

  hasPending(pending: PendingNotifications): boolean {
    if (!this.block.isEmpty && (pending.block !== null || pending.expectsBlock)) return true;
    for (const notification of pending.accounts.values()) if (this.matchesAccount(notification)) return true;
    return pending.transactions.some((notification) => this.matchesTransaction(notification));
  }

  failAll(failure: Failure): void {
    for (const { listener } of this.#listeners) listener.onError(failure);
    this.#listeners.clear();
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

  get watchesAccounts(): boolean {
    return !(this.account.isEmpty && this.program.isEmpty);
  }

  matchesAccount(notification: AccountNotification): boolean {
    return this.account.matches(notification) || this.program.matches(notification);
  }

  notifyAccount(notification: AccountNotification): void {
    this.account.notify(notification);
    this.program.notify(notification);
  }

  get watchesTransactions(): boolean {
    return !(this.logs.isEmpty && this.signature.isEmpty && this.transaction.isEmpty);
  }

  matchesTransaction(notification: TransactionNotification): boolean {
    return (
      this.signature.matches(notification) ||
      this.logs.matches(notification) ||
      this.transaction.matches(notification)
    );
  }

  notifyTransaction(notification: TransactionNotification): void {
    this.logs.notify(notification);
    this.transaction.notify(notification);
    this.signature.notify(notification);
  }
}
