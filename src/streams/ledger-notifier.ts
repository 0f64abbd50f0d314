import type { Commitment } from '../protocol/commitment.ts';
import { Failure } from '../protocol/errors.ts';
import type { Subscription, SubscriptionKind } from '../protocol/subscriptions.ts';
import type { AccountLookup } from '../solana/parsed/account/parsed-account.ts';
import type { Signature } from '../solana/signature.ts';
import type { Slot } from '../solana/units.ts';
import type { FeedListener } from './feed.ts';
import type { EventOf, LedgerEvent } from './ledger-event.ts';
import { AccountNotification } from './notifier/account-notification.ts';
import { BlockNotification } from './notifier/block-watchers.ts';
import { CommitmentWatchers } from './notifier/commitment-watchers.ts';
import {
  type Level,
  levels,
  type PendingSlot,
  PendingSlots,
  pendingSlotsOptions,
} from './notifier/pending-slots.ts';
import type { SignatureStatus } from './notifier/signature-watchers.ts';
import { SlotWatchers } from './notifier/slot-watchers.ts';
import { TransactionNotification } from './notifier/transaction-notification.ts';

const ledgerNotifierOptions = {
  ...pendingSlotsOptions,
  lookup: (_slot: Slot): AccountLookup => ({}),
  /** Returns the status of a transaction that landed before the subscription; null if unknown. */
  statusOf: (_signature: Signature): SignatureStatus | null => null,
  /** Emits `processed` notifications immediately at each event, not when the slot becomes `processed`. */
  intraSlot: false,
  /** Stores events even without subscribers, so that a new subscription gets slots that started before it. */
  retainUnsubscribed: false,
  /** Called when a slot with pending notifications is evicted. Subscriptions at the `_failed` commitments fail. */
  onEvicted: (_slot: Slot, _failed: readonly Commitment[]): void => {},
};

export type LedgerNotifierOptions = Readonly<typeof ledgerNotifierOptions>;

type CommitmentLevel = Exclude<Level, typeof levels.none>;

const commitmentAt: Readonly<Record<CommitmentLevel, Commitment>> = {
  [levels.processed]: 'processed',
  [levels.confirmed]: 'confirmed',
  [levels.finalized]: 'finalized',
};
const ascending: readonly CommitmentLevel[] = [levels.processed, levels.confirmed, levels.finalized];

/**
 * Converts ledger events into Agave's notifications. At `confirmed` and `finalized`, every slot up to
 * the event's slot is emitted once, oldest first, even if the root skips slots. Dead or abandoned slots are not emitted
 * at commitments that they never reached. Sources: Agave rpc/src/rpc_subscriptions.rs; reference solana-json-rpc.md
 * §3.2 and, for `transaction`, §3.3.
 */
export class LedgerNotifier {
  readonly #options: LedgerNotifierOptions;
  readonly #slots: PendingSlots;
  readonly #slotWatchers = new SlotWatchers();
  readonly #watchers: Record<Commitment, CommitmentWatchers> = {
    processed: new CommitmentWatchers(),
    confirmed: new CommitmentWatchers(),
    finalized: new CommitmentWatchers(),
  };

  constructor(options: Partial<LedgerNotifierOptions> = {}) {
    this.#options = { ...ledgerNotifierOptions, ...options };
    this.#slots = new PendingSlots(this.#options, (pending) => this.#evict(pending));
  }

  /** Keeps equal subscriptions separate, each with its own listener. Returns an idempotent unsubscribe function. */
  add(subscription: Subscription, listener: FeedListener): () => void {
    return 'commitment' in subscription
      ? this.#watchers[subscription.commitment].add(subscription, listener)
      : this.#slotWatchers[subscription.kind].add(listener);
  }

  /** If false, events that only this kind of subscription needs can be omitted. */
  hasSubscribers(kind: SubscriptionKind): boolean {
    if (kind === 'slot' || kind === 'slotsUpdates' || kind === 'root' || kind === 'vote') {
      return !this.#slotWatchers[kind].isEmpty;
    }
    return ascending.some((level) => !this.#at(level)[kind].isEmpty);
  }

  emit(event: LedgerEvent): void {
    if (event.kind !== 'confirmed') this.#slotWatchers.notify(event);
    switch (event.kind) {
      case 'created':
        this.#handleCreated(event);
        break;
      case 'received':
        this.#notifyReceived(event.signature, event.slot);
        break;
      case 'transaction':
        this.#handleTransaction(event);
        break;
      case 'account':
        this.#handleAccount(event);
        break;
      case 'frozen':
        this.#freeze(this.#slots.getOrCreate(event.slot));
        break;
      case 'block':
        this.#handleBlock(event);
        break;
      case 'dead':
        this.#slots.remove(event.slot);
        break;
      case 'processed':
        this.#handleProcessed(event.slot);
        break;
      case 'confirmed':
        this.#advance(event.slot, levels.confirmed);
        this.#slotWatchers.notify(event);
        break;
      case 'rooted':
        this.#advance(event.slot, levels.finalized);
        this.#slots.removeFinished(event.slot);
        break;
    }
  }

  #at(level: CommitmentLevel): CommitmentWatchers {
    return this.#watchers[commitmentAt[level]];
  }

  #evict(pending: PendingSlot): void {
    const emittedLevel = this.#options.intraSlot
      ? Math.max(pending.emittedLevel, levels.processed)
      : pending.emittedLevel;
    const pendingLevels = ascending.filter(
      (level) => level > emittedLevel && this.#at(level).hasPending(pending),
    );
    if (pendingLevels.length === 0) return;
    const commitments = pendingLevels.map((level) => commitmentAt[level]);
    this.#options.onEvicted(pending.slot, commitments);
    for (const commitment of commitments) {
      const watchers = this.#watchers[commitment];
      this.#watchers[commitment] = new CommitmentWatchers();
      watchers.failAll(new Failure('UPSTREAM_UNAVAILABLE'));
    }
  }

  #handleCreated({ slot, parent }: EventOf<'created'>): void {
    const pending = this.#slots.getOrCreate(slot);
    pending.create(parent);
    pending.expectsBlock = this.#options.retainUnsubscribed || this.hasSubscribers('block');
  }

  #notifyReceived(signature: Signature, slot: Slot): void {
    for (const level of ascending) this.#at(level).signature.notifyReceived(signature, slot);
  }

  #handleTransaction({ slot, index, executed, isVote }: EventOf<'transaction'>): void {
    const { retainUnsubscribed } = this.#options;
    if (!retainUnsubscribed && !ascending.some((level) => this.#at(level).watchesTransactions)) return;
    const notification = new TransactionNotification(slot, index, executed, isVote);
    if (notification.signature !== undefined) this.#notifyReceived(notification.signature, slot);
    const emittedLevel = this.#emittedLevelOf(slot);
    let isSubscribed = retainUnsubscribed;
    for (const level of ascending) {
      if (level <= emittedLevel) this.#at(level).notifyTransaction(notification);
      else isSubscribed ||= this.#at(level).matchesTransaction(notification);
    }
    if (!isSubscribed) return;
    const pending = this.#slots.getOrCreate(slot);
    pending.transactions.push(notification);
    this.#slots.count(pending);
  }

  #handleAccount({ slot, address, account }: EventOf<'account'>): void {
    const { retainUnsubscribed, lookup } = this.#options;
    if (!retainUnsubscribed && !ascending.some((level) => this.#at(level).watchesAccounts)) return;
    const notification = new AccountNotification(slot, address, account, lookup);
    const emittedLevel = this.#emittedLevelOf(slot);
    let isSubscribed = retainUnsubscribed || this.#slots.get(slot)?.accounts.has(address) === true;
    for (const level of ascending) {
      if (level <= emittedLevel) this.#at(level).notifyAccount(notification);
      else isSubscribed ||= this.#at(level).matchesAccount(notification);
    }
    if (!isSubscribed) return;
    const pending = this.#slots.getOrCreate(slot);
    const isNew = !pending.accounts.has(address);
    pending.accounts.set(address, notification);
    if (isNew) this.#slots.count(pending);
  }

  /** Late events are emitted immediately at the levels that their slot has already reached. */
  #emittedLevelOf(slot: Slot): Level {
    const emittedLevel = this.#slots.get(slot)?.emittedLevel ?? levels.none;
    return emittedLevel === levels.none && this.#options.intraSlot ? levels.processed : emittedLevel;
  }

  #handleBlock({ block }: EventOf<'block'>): void {
    const pending = this.#slots.getOrCreate(block.slot);
    pending.parent ??= block.parentSlot;
    if (this.#options.retainUnsubscribed || this.hasSubscribers('block')) {
      pending.block = new BlockNotification(block);
      for (const level of ascending)
        if (level <= pending.emittedLevel) this.#at(level).block.notify(pending.block);
    }
    this.#freeze(pending);
  }

  #handleProcessed(slot: Slot): void {
    const pending = this.#slots.get(slot);
    if (pending !== undefined) this.#freeze(pending);
    this.#advance(slot, levels.processed);
  }

  #freeze(pending: PendingSlot): void {
    pending.freeze();
    for (const level of ascending) {
      if (level > pending.emittedLevel && level <= pending.dueLevel) this.#notifyAll(pending, level);
    }
  }

  /** Handles a slot that reached a level, and thereby all lower levels. */
  #advance(slot: Slot, upTo: CommitmentLevel): void {
    for (const level of ascending) {
      if (level > upTo) break;
      for (const pending of this.#slots.slotsReaching(slot, level)) {
        if (pending.isComplete) this.#notifyAll(pending, level);
        else if (pending.dueLevel < level) pending.dueLevel = level;
      }
      this.#at(level).signature.notifyLanded(slot, this.#options.statusOf);
    }
  }

  #notifyAll(pending: PendingSlot, level: CommitmentLevel): void {
    pending.emittedLevel = level;
    const watchers = this.#at(level);
    if (level !== levels.processed || !this.#options.intraSlot) {
      for (const notification of pending.accounts.values()) watchers.notifyAccount(notification);
      for (const notification of pending.transactions) watchers.notifyTransaction(notification);
    }
    watchers.signature.notifyLanded(pending.slot, this.#options.statusOf);
    if (level === levels.processed) return;
    if (pending.block !== null) watchers.block.notify(pending.block);
    else if (pending.expectsBlock) watchers.block.notifyMissing(pending.slot);
  }
}
