import type { Commitment } from '../../../protocol/commitment.ts';
import type { AccountUpdate } from '../../../protocol/geyser/update/account.ts';
import type { Update } from '../../../protocol/geyser/update/decode-update.ts';
import type { SlotUpdate } from '../../../protocol/geyser/update/slot.ts';
import type { TransactionUpdate } from '../../../protocol/geyser/update/transaction.ts';
import type { Signature } from '../../../solana/signature.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import type { LedgerEvent } from '../../../streams/ledger-event.ts';
import { newer, newestOf } from '../../slots/newest-slot.ts';
import type { EmittedTransactions } from '../preferred-feed.ts';
import type { SlotInfo } from '../pubsub-message.ts';

/** At `processed`, transactions are emitted as they arrive; at other commitments, once their slot is complete. */
class EmittedSlots implements EmittedTransactions {
  readonly newest: Slot | null;
  readonly #slots: ReadonlyMap<Slot, SlotState>;
  readonly #root: Slot | null;
  /** The feed starts after this slot. */
  readonly #before: Slot | null;
  readonly #confirmed: Slot | null;

  constructor(slots: ReadonlyMap<Slot, SlotState>, root: Slot | null, before: Slot | null) {
    this.#slots = slots;
    this.#root = root;
    this.#before = before;
    this.newest = newestOf(slots.keys()) ?? root;
    this.#confirmed = this.#newestWhere(({ isConfirmed }) => isConfirmed) ?? root;
  }

  copy(): EmittedSlots {
    const slots = [...this.#slots].map(([slot, emitted]) => {
      return [slot, { ...emitted, signatures: new Set(emitted.signatures) }] as const;
    });
    return new EmittedSlots(new Map(slots), this.#root, this.#before);
  }

  upTo(commitment: Commitment): Slot | null {
    const old = newer(this.#root, this.#before);
    if (commitment === 'finalized') return old;
    if (commitment === 'processed') return this.#newestWhere(({ isComplete }) => isComplete) ?? old;
    return this.#completeUpTo(this.#confirmed) ?? old;
  }

  has(commitment: Commitment, slot: Slot, signature: Signature): boolean {
    if (this.#root !== null && slot <= this.#root) return true;
    const emitted = this.#slots.get(slot);
    if (emitted === undefined || commitment === 'finalized') return false;
    if (commitment === 'processed') return emitted.signatures.has(signature);
    return emitted.isComplete && this.#confirmed !== null && slot <= this.#confirmed;
  }

  #newestWhere(is: (emitted: SlotState) => boolean): Slot | null {
    return newestOf([...this.#slots].filter(([, emitted]) => is(emitted)).map(([slot]) => slot));
  }

  /** Follows the chain down from `tip`. Transactions in or above an incomplete slot may be missing. */
  #completeUpTo(tip: Slot | null): Slot | null {
    let complete = tip;
    for (let at = tip; at !== null; ) {
      const emitted = this.#slots.get(at);
      if (emitted === undefined) break;
      if (!emitted.isComplete) complete = slotOf(at > 0n ? at - 1n : 0n);
      at = emitted.parent;
    }
    return complete;
  }
}

/** Estimated distance between a slot and the root, until a root is known. Source: Agave, `MAX_LOCKOUT_HISTORY`. */
const ROOT_DISTANCE = 32n;

const previousSlot = (slot: Slot): Slot => slotOf(slot > 0n ? slot - 1n : slot);

class SlotState {
  parent: Slot | null;
  isCreated = false;
  /** Whether the slot was emitted completely. */
  isComplete = false;
  isConfirmed = false;
  signatures = new Set<Signature>();

  constructor(parent: Slot | null) {
    this.parent = parent;
  }
}

type UpdateSequenceOptions = Readonly<{
  /** The newest slot that was complete before the first subscription. */
  completeUpTo: Slot | null;
  /** Maximum number of tracked slots above the root. Beyond this, the oldest is evicted. */
  slotsMax: number;
  /** Called when a slot is evicted. Root notifications for this slot and its ancestors may then be missing. */
  onEvicted: (slot: Slot) => void;
}>;

/** Converts updates into ledger events. Drops updates for complete slots: these are replays for gRPC streams. */
export class UpdateSequence {
  readonly #options: UpdateSequenceOptions;
  readonly #slots = new Map<Slot, SlotState>();
  root: Slot | null = null;
  /** Recent root from a node, used until the stream reports a root. */
  #rootHint: Slot | null = null;
  #processed: Slot | null = null;
  #oldest: Slot | null = null;

  constructor(options: UpdateSequenceOptions) {
    this.#options = options;
  }

  get position(): SlotInfo | null {
    const slot = this.#processed;
    if (slot === null) return null;
    return { slot, parent: this.#slots.get(slot)?.parent ?? previousSlot(slot), root: this.#rootAt(slot) };
  }

  /** A live view of the emitted transactions. */
  emittedTransactions(): EmittedSlots {
    const before = this.#options.completeUpTo ?? (this.#oldest === null ? null : previousSlot(this.#oldest));
    return new EmittedSlots(this.#slots, this.root, before);
  }

  setRootHint(root: Slot): void {
    this.#rootHint = root;
  }

  /** @param at - Unix milliseconds. */
  eventsOf(update: Update, at: bigint): readonly LedgerEvent[] {
    const { slot } = update;
    if (this.root !== null && slot <= this.root) return [];
    if (update.kind === 'slot' && update.status === 'confirmed') {
      const state = this.#slots.get(slot);
      if (state !== undefined) state.isConfirmed = true;
      return [{ kind: 'confirmed', slot, at }];
    }
    if (update.kind === 'slot' && update.status === 'finalized') {
      this.root = slot;
      for (const existing of this.#slots.keys()) if (existing <= slot) this.#slots.delete(existing);
      return [{ kind: 'rooted', slot, at }];
    }
    const { completeUpTo } = this.#options;
    if (completeUpTo !== null && slot <= completeUpTo) return [];
    if (this.#slots.get(slot)?.isComplete && !(update.kind === 'slot' && update.status === 'dead')) return [];
    switch (update.kind) {
      case 'slot':
        return this.#slotEvents(update, at);
      case 'transaction':
        return [this.#transactionEvent(update)];
      case 'account':
        return [this.#accountEvent(update)];
    }
  }

  #slotState(slot: Slot): SlotState {
    const existing = this.#slots.get(slot);
    if (existing !== undefined) return existing;
    const state = new SlotState(null);
    this.#slots.set(slot, state);
    if (this.#oldest === null || slot < this.#oldest) this.#oldest = slot;
    if (this.#slots.size > this.#options.slotsMax) this.#evictOldest();
    return state;
  }

  #evictOldest(): void {
    const [first] = this.#slots.keys();
    if (first === undefined) return;
    this.#slots.delete(first);
    this.#options.onEvicted(first);
  }

  #transactionEvent({ slot, info: { index, executed, isVote, signature } }: TransactionUpdate): LedgerEvent {
    this.#slotState(slot).signatures.add(signature);
    return { kind: 'transaction', slot, index, executed, isVote };
  }

  #accountEvent({ slot, write }: AccountUpdate): LedgerEvent {
    this.#slotState(slot);
    const { address, account, writeVersion, signature } = write;
    const current = account.lamports === 0n ? null : account;
    return { kind: 'account', slot, address, account: current, signature, writeVersion };
  }

  #slotEvents({ slot, parent, status, deadError }: SlotUpdate, at: bigint): LedgerEvent[] {
    const state = this.#slotState(slot);
    state.parent ??= parent;
    switch (status) {
      case 'createdBank':
        // Servers without bank updates report the parent when the slot is processed.
        return state.parent === null ? [] : this.#createdEvents(slot, state, at);
      case 'dead':
        // A dead slot may be repaired and replayed.
        this.#slots.set(slot, new SlotState(state.parent));
        return [{ kind: 'dead', slot, err: deadError ?? '', at }];
      case 'processed': {
        const created = this.#createdEvents(slot, state, at);
        state.isComplete = true;
        if (this.#processed === null || slot > this.#processed) this.#processed = slot;
        return [...created, { kind: 'processed', slot }];
      }
      default:
        return [];
    }
  }

  #createdEvents(slot: Slot, state: SlotState, at: bigint): LedgerEvent[] {
    if (state.isCreated) return [];
    state.isCreated = true;
    const parent = state.parent ?? previousSlot(slot);
    return [{ kind: 'created', slot, parent, root: this.#rootAt(slot), at }];
  }

  #rootAt(slot: Slot): Slot {
    return this.root ?? this.#rootHint ?? slotOf(slot > ROOT_DISTANCE ? slot - ROOT_DISTANCE : 0n);
  }
}
