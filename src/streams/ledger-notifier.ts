import type { AccountLookup } from '../ledger/parsed/account/parsed-account.ts';
import type { Signature } from '../ledger/signature.ts';
import type { Slot } from '../ledger/units.ts';
import type { Commitment } from '../protocol/commitment.ts';
import { Failure } from '../protocol/errors.ts';
import type { Subscription, SubscriptionKind } from '../protocol/subscriptions.ts';
import type { FeedListener } from './feed.ts';
import type { LedgerEvent } from './ledger-event.ts';
import { CommitmentWatchers } from './notifier/commitment-watchers.ts';
import { type HeldSlot, type Level, levels } from './notifier/held-slot.ts';
import { HeldSlots, type HeldSlotsOptions } from './notifier/held-slots.ts';
import type { SignatureStatus } from './notifier/signature-watchers.ts';
import { SlotWatchers } from './notifier/slot-watchers.ts';
import { ToldAccount } from './notifier/told-account.ts';
import { ToldBlock } from './notifier/told-block.ts';
import { ToldTransaction } from './notifier/told-transaction.ts';

export type LedgerNotifierOptions = HeldSlotsOptions &
  Readonly<{
    /** Where `jsonParsed` of an account in a slot finds mints. */
    lookup: (slot: Slot) => AccountLookup;
    /** What became of a transaction that landed before it was subscribed to; null when nothing is known of it. */
    statusOf: (signature: Signature) => SignatureStatus | null;
    /**
     * Whether `processed` accounts, programs, logs, transactions and signatures are told with each event, instead
     * of when their slot becomes `processed`.
     */
    intraSlot: boolean;
    /** Keeps what nobody wants yet, so that a subscription hears of slots that had begun before it. */
    keepUnwanted: boolean;
    /** More is held than may be: a slot was let go, and whoever was owed something of it was failed. */
    onForgotten: (slot: Slot, failed: readonly Commitment[]) => void;
  }>;

/** How a notifier tells a ledger when nothing else is said: it looks nothing up, and holds so much. */
export const ledgerNotifierDefaults: LedgerNotifierOptions = {
  lookup: () => ({}),
  statusOf: () => null,
  intraSlot: false,
  keepUnwanted: false,
  onForgotten: () => {},
  slotsMax: 512,
  heldMax: 1_000_000,
};

type EventOf<Kind extends LedgerEvent['kind']> = Extract<LedgerEvent, { kind: Kind }>;
type ReachedLevel = Exclude<Level, typeof levels.none>;

const commitmentAt: Readonly<Record<ReachedLevel, Commitment>> = {
  [levels.processed]: 'processed',
  [levels.confirmed]: 'confirmed',
  [levels.finalized]: 'finalized',
};
const ascending: readonly ReachedLevel[] = [levels.processed, levels.confirmed, levels.finalized];

/**
 * Turns what a ledger tells into the notifications of every kind of subscription, as Agave fires them. A slot's
 * events are held until its commitment is told; `confirmed` and `finalized` then tell every slot up to the named
 * one, each once, oldest first, also where Agave skips some because its root jumps. What happened in a slot
 * that dies or is left by the chain is not told at the commitments it never had. Where a limit lets a slot go
 * before it is over, the subscriptions at each commitment that are owed something of it fail, and are over.
 *
 * Sources: Agave rpc/src/rpc_subscriptions.rs; reference solana-json-rpc.md §3.2 and, for `transaction`, §3.3.
 */
export class LedgerNotifier {
  readonly #options: LedgerNotifierOptions;
  readonly #slots: HeldSlots;
  readonly #slotWatchers = new SlotWatchers();
  readonly #watchers: Record<Commitment, CommitmentWatchers> = {
    processed: new CommitmentWatchers(),
    confirmed: new CommitmentWatchers(),
    finalized: new CommitmentWatchers(),
  };

  constructor(options: Partial<LedgerNotifierOptions> = {}) {
    this.#options = { ...ledgerNotifierDefaults, ...options };
    this.#slots = new HeldSlots(this.#options, (held) => this.#fail(held));
  }

  /**
   * Begins a subscription. Equal ones are told apart, each with its listener.
   * @returns what ends it; harmless when it is over.
   */
  add(subscription: Subscription, listener: FeedListener): () => void {
    return 'commitment' in subscription
      ? this.#watchers[subscription.commitment].add(subscription, listener)
      : this.#slotWatchers[subscription.kind].add(listener);
  }

  /** Whether anybody subscribed to this kind: what feeds only others need not be told. */
  wants(kind: SubscriptionKind): boolean {
    if (kind === 'slot' || kind === 'slotsUpdates' || kind === 'root' || kind === 'vote') {
      return !this.#slotWatchers[kind].isEmpty;
    }
    return ascending.some((level) => !this.#at(level)[kind].isEmpty);
  }

  /** Takes the next event; listeners are called before it returns. */
  tell(event: LedgerEvent): void {
    if (event.kind !== 'confirmed') this.#slotWatchers.tell(event);
    switch (event.kind) {
      case 'created':
        this.#create(event);
        break;
      case 'received':
        this.#receive(event.signature, event.slot);
        break;
      case 'transaction':
        this.#execute(event);
        break;
      case 'account':
        this.#change(event);
        break;
      case 'frozen':
        this.#freeze(this.#slots.hold(event.slot));
        break;
      case 'block':
        this.#block(event);
        break;
      case 'dead':
        this.#slots.forget(event.slot);
        break;
      case 'processed':
        this.#process(event.slot);
        break;
      case 'confirmed':
        this.#reach(event.slot, levels.confirmed);
        this.#slotWatchers.tell(event);
        break;
      case 'rooted':
        this.#reach(event.slot, levels.finalized);
        this.#slots.settle(event.slot);
        break;
    }
  }

  #at(level: ReachedLevel): CommitmentWatchers {
    return this.#watchers[commitmentAt[level]];
  }

  /** A slot is let go that not everybody has been told of. */
  #fail(held: HeldSlot): void {
    const told = this.#options.intraSlot ? Math.max(held.reached, levels.processed) : held.reached;
    const owed = ascending.filter((level) => level > told && this.#at(level).isOwed(held));
    if (owed.length === 0) return;
    const commitments = owed.map((level) => commitmentAt[level]);
    this.#options.onForgotten(held.slot, commitments);
    for (const commitment of commitments) {
      const watchers = this.#watchers[commitment];
      this.#watchers[commitment] = new CommitmentWatchers();
      watchers.failAll(new Failure('UPSTREAM_UNAVAILABLE'));
    }
  }

  #create({ slot, parent }: EventOf<'created'>): void {
    const held = this.#slots.hold(slot);
    held.create(parent);
    held.expectsBlock = this.#options.keepUnwanted || this.wants('block');
  }

  #receive(signature: Signature, slot: Slot): void {
    for (const level of ascending) this.#at(level).signature.tellReceived(signature, slot);
  }

  #execute({ slot, index, executed, isVote }: EventOf<'transaction'>): void {
    const { keepUnwanted } = this.#options;
    if (!keepUnwanted && !ascending.some((level) => this.#at(level).wantsTransactions)) return;
    const told = new ToldTransaction(slot, index, executed, isVote);
    if (told.signature !== undefined) this.#receive(told.signature, slot);
    const reached = this.#reachedBy(slot);
    let isWanted = keepUnwanted;
    for (const level of ascending) {
      if (level <= reached) this.#at(level).tellTransaction(told);
      else isWanted ||= this.#at(level).wantsTransaction(told);
    }
    if (!isWanted) return;
    const held = this.#slots.hold(slot);
    held.transactions.push(told);
    this.#slots.count(held);
  }

  #change({ slot, address, account }: EventOf<'account'>): void {
    const { keepUnwanted, lookup } = this.#options;
    if (!keepUnwanted && !ascending.some((level) => this.#at(level).wantsAccounts)) return;
    const told = new ToldAccount(slot, address, account, lookup);
    const reached = this.#reachedBy(slot);
    let isWanted = keepUnwanted || this.#slots.get(slot)?.accounts.has(address) === true;
    for (const level of ascending) {
      if (level <= reached) this.#at(level).tellAccount(told);
      else isWanted ||= this.#at(level).wantsAccount(told);
    }
    if (!isWanted) return;
    const held = this.#slots.hold(slot);
    const isNew = !held.accounts.has(address);
    held.accounts.set(address, told);
    if (isNew) this.#slots.count(held);
  }

  /** What has been told of a slot already is told at once of what still comes of it. */
  #reachedBy(slot: Slot): Level {
    const reached = this.#slots.get(slot)?.reached ?? levels.none;
    return reached === levels.none && this.#options.intraSlot ? levels.processed : reached;
  }

  #block({ block }: EventOf<'block'>): void {
    const held = this.#slots.hold(block.slot);
    held.parent ??= block.parentSlot;
    if (this.#options.keepUnwanted || this.wants('block')) {
      held.block = new ToldBlock(block);
      for (const level of ascending) if (level <= held.reached) this.#at(level).block.tell(held.block);
    }
    this.#freeze(held);
  }

  #process(slot: Slot): void {
    const held = this.#slots.get(slot);
    if (held !== undefined) this.#freeze(held);
    this.#reach(slot, levels.processed);
  }

  #freeze(held: HeldSlot): void {
    held.freeze();
    for (const level of ascending) {
      if (level > held.reached && level <= held.due) this.#tellAll(held, level);
    }
  }

  /** A slot came to a level, and so to those below it. */
  #reach(slot: Slot, upTo: ReachedLevel): void {
    for (const level of ascending) {
      if (level > upTo) break;
      for (const held of this.#slots.reachedWith(slot, level)) {
        if (held.isWhole) this.#tellAll(held, level);
        else if (held.due < level) held.due = level;
      }
      this.#at(level).signature.tellLate(slot, this.#options.statusOf);
    }
  }

  #tellAll(held: HeldSlot, level: ReachedLevel): void {
    held.reached = level;
    const watchers = this.#at(level);
    if (level !== levels.processed || !this.#options.intraSlot) {
      for (const told of held.accounts.values()) watchers.tellAccount(told);
      for (const told of held.transactions) watchers.tellTransaction(told);
    }
    watchers.signature.tellLate(held.slot, this.#options.statusOf);
    if (level === levels.processed) return;
    if (held.block !== null) watchers.block.tell(held.block);
    else if (held.expectsBlock) watchers.block.tellMissing(held.slot);
  }
}
