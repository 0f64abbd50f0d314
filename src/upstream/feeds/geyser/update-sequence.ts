import type { Commitment } from '../../../protocol/commitment.ts';
import type { Update } from '../../../protocol/geyser/subscribe-update.ts';
import type { AccountUpdate } from '../../../protocol/geyser/update/account.ts';
import type { SlotStatus, SlotUpdate } from '../../../protocol/geyser/update/slot.ts';
import type { TransactionUpdate } from '../../../protocol/geyser/update/transaction.ts';
import type { Address } from '../../../solana/address.ts';
import type { Signature } from '../../../solana/signature.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import type { LedgerEvent } from '../../../streams/ledger-event.ts';
import type { EmittedTransactions } from '../block-stream.ts';
import type { SlotInfo } from '../pubsub-message.ts';

type EmittedSlot = Readonly<{
  parent: Slot | null;
  /** Emitted completely. */
  isWhole: boolean;
  isConfirmed: boolean;
  signatures: ReadonlySet<Signature>;
}>;

const newestOf = (slots: Iterable<Slot>): Slot | null => {
  let newest: Slot | null = null;
  for (const slot of slots) if (newest === null || slot > newest) newest = slot;
  return newest;
};

/** Emitted transactions: at `processed` individually, at `confirmed` and `finalized` per completed slot. */
class EmittedSlots implements EmittedTransactions {
  readonly newest: Slot | null;
  readonly #slots: ReadonlyMap<Slot, EmittedSlot>;
  readonly #root: Slot | null;
  /** The slot before the stream's first one. */
  readonly #before: Slot | null;
  readonly #confirmed: Slot | null;

  constructor(slots: ReadonlyMap<Slot, EmittedSlot>, root: Slot | null, before: Slot | null) {
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
    const old = this.#root ?? this.#before;
    if (commitment === 'finalized') return old;
    if (commitment === 'processed') return this.#newestWhere(({ isWhole }) => isWhole) ?? old;
    return this.#completeUpTo(this.#confirmed) ?? old;
  }

  has(commitment: Commitment, slot: Slot, signature: Signature): boolean {
    if (this.#root !== null && slot <= this.#root) return true;
    const emitted = this.#slots.get(slot);
    if (emitted === undefined || commitment === 'finalized') return false;
    if (commitment === 'processed') return emitted.signatures.has(signature);
    return emitted.isWhole && this.#confirmed !== null && slot <= this.#confirmed;
  }

  #newestWhere(is: (emitted: EmittedSlot) => boolean): Slot | null {
    return newestOf([...this.#slots].filter(([, emitted]) => is(emitted)).map(([slot]) => slot));
  }

  /** Follows the chain down from a slot; transactions above an incomplete slot may be missing. */
  #completeUpTo(tip: Slot | null): Slot | null {
    let complete = tip;
    for (let at = tip; at !== null; ) {
      const emitted = this.#slots.get(at);
      if (emitted === undefined) break;
      if (!emitted.isWhole) complete = slotOf(at > 0n ? at - 1n : 0n);
      at = emitted.parent;
    }
    return complete;
  }
}

/** Estimate before the first root. Source: Agave, `MAX_LOCKOUT_HISTORY`. */
const ROOT_DISTANCE = 32n;

const previousSlot = (slot: Slot): Slot => slotOf(slot > 0n ? slot - 1n : slot);

/** Emitted writes of an account in a slot. Write versions of different nodes are not comparable. */
type AccountWrites = { node: string; version: bigint; readonly signatures: Set<Signature | null> };

type SlotState = {
  parent: Slot | null;
  readonly statuses: Set<SlotStatus>;
  readonly signatures: Set<Signature>;
  readonly writes: Map<Address, AccountWrites>;
};

const emptySlot = (): SlotState => ({
  parent: null,
  statuses: new Set(),
  signatures: new Set(),
  writes: new Map(),
});

/**
 * Converts Geyser updates into ledger events, each once, regardless of order and server. Deduplicates by slot
 * and status, by signature, and by account and transaction. Updates at or below the root are dropped.
 */
export class UpdateSequence {
  readonly #slotsMax: number;
  readonly #onEvicted: (slot: Slot) => void;
  readonly #slots = new Map<Slot, SlotState>();
  #root: Slot | null = null;
  /** Recent root from a node, used before the stream reports one. */
  #rootHint: Slot | null = null;
  /** Newest completed slot. */
  #processed: Slot | null = null;
  #oldest: Slot | null = null;

  /**
   * @param slotsMax - tracked slots above the root; beyond it the oldest entry is evicted.
   * @param onEvicted - roots of the evicted slot's descendants will be incomplete.
   */
  constructor(slotsMax: number, onEvicted: (slot: Slot) => void) {
    this.#slotsMax = slotsMax;
    this.#onEvicted = onEvicted;
  }

  get root(): Slot | null {
    return this.#root;
  }

  get processed(): Slot | null {
    return this.#processed;
  }

  get position(): SlotInfo | null {
    const slot = this.#processed;
    if (slot === null) return null;
    return { slot, parent: this.#slots.get(slot)?.parent ?? previousSlot(slot), root: this.#rootAt(slot) };
  }

  /** A live view of the emitted transactions. */
  emittedTransactions(): EmittedSlots {
    const slots = [...this.#slots].map(([slot, { parent, statuses, signatures }]) => {
      const isConfirmed = statuses.has('confirmed');
      const isWhole = statuses.has('processed');
      return [slot, { parent, isWhole, isConfirmed, signatures }] as const;
    });
    return new EmittedSlots(
      new Map(slots),
      this.#root,
      this.#oldest === null ? null : previousSlot(this.#oldest),
    );
  }

  setRootHint(root: Slot): void {
    this.#rootHint = root;
  }

  isWhole(slot: Slot): boolean {
    if (this.#root !== null && slot <= this.#root) return true;
    return this.#slots.get(slot)?.statuses.has('processed') === true;
  }

  /** Events of an update that were not emitted yet. */
  eventsOf(update: Update, at: bigint, node: string): readonly LedgerEvent[] {
    switch (update.kind) {
      case 'slot':
        return this.#isRooted(update.slot) ? [] : this.#slotEvents(update, at);
      case 'transaction':
        return this.#isRooted(update.slot) ? [] : this.#transactionEvents(update);
      case 'account':
        return this.#isRooted(update.slot) || update.isStartup ? [] : this.#accountEvents(update, node);
      default:
        return [];
    }
  }

  #isRooted(slot: Slot): boolean {
    return this.#root !== null && slot <= this.#root;
  }

  #slotState(slot: Slot): SlotState {
    const existing = this.#slots.get(slot);
    if (existing !== undefined) return existing;
    const state = emptySlot();
    this.#slots.set(slot, state);
    if (this.#oldest === null || slot < this.#oldest) this.#oldest = slot;
    if (this.#slots.size > this.#slotsMax) this.#evictOldest();
    return state;
  }

  #evictOldest(): void {
    const [first] = this.#slots.keys();
    if (first === undefined) return;
    this.#slots.delete(first);
    this.#onEvicted(first);
  }

  #transactionEvents({ slot, info }: TransactionUpdate): LedgerEvent[] {
    const { signatures } = this.#slotState(slot);
    if (signatures.has(info.signature)) return [];
    signatures.add(info.signature);
    const { index, executed, isVote } = info;
    return [{ kind: 'transaction', slot, index, executed, isVote }];
  }

  #accountEvents({ slot, write }: AccountUpdate, node: string): LedgerEvent[] {
    const { writes } = this.#slotState(slot);
    const { address, account, writeVersion, signature } = write;
    const state = writes.get(address);
    if (state === undefined) {
      writes.set(address, { node, version: writeVersion, signatures: new Set([signature]) });
    } else {
      const isOlder = state.node === node ? writeVersion <= state.version : state.signatures.has(signature);
      if (isOlder || (signature !== null && state.signatures.has(signature))) return [];
      Object.assign(state, { node, version: writeVersion });
      state.signatures.add(signature);
    }
    const current = account.lamports === 0n ? null : account;
    return [{ kind: 'account', slot, address, account: current, signature, writeVersion }];
  }

  #slotEvents({ slot, parent, status, deadError }: SlotUpdate, at: bigint): LedgerEvent[] {
    if (this.#slotState(slot).statuses.has(status)) return [];
    const state = this.#startSlot(slot, status);
    state.statuses.add(status);
    state.parent ??= parent;
    switch (status) {
      case 'firstShredReceived':
        return [{ kind: 'firstShred', slot, at }];
      case 'completed':
        return [{ kind: 'completed', slot, at }];
      case 'createdBank':
        return [this.#createdEvent(slot, state, at)];
      case 'dead':
        return [{ kind: 'dead', slot, err: deadError ?? '', at }];
      case 'processed':
        return this.#processedEvents(slot, state, at);
      case 'confirmed':
        return [{ kind: 'confirmed', slot, at }];
      case 'finalized':
        return this.#rootedEvents(slot, at);
    }
  }

  /** A dead slot may be repaired and replayed: discards what was emitted of it. */
  #startSlot(slot: Slot, status: SlotStatus): SlotState {
    const state = this.#slotState(slot);
    const isNewVersion = status === 'dead' || (status === 'createdBank' && state.statuses.has('dead'));
    if (!isNewVersion) return state;
    const fresh = { ...emptySlot(), parent: state.parent };
    this.#slots.set(slot, fresh);
    return fresh;
  }

  #createdEvent(slot: Slot, state: SlotState, at: bigint): LedgerEvent {
    return {
      kind: 'created',
      slot,
      parent: state.parent ?? previousSlot(slot),
      root: this.#rootAt(slot),
      at,
    };
  }

  #rootAt(slot: Slot): Slot {
    return this.#root ?? this.#rootHint ?? slotOf(slot > ROOT_DISTANCE ? slot - ROOT_DISTANCE : 0n);
  }

  /** Servers without bank updates report a slot first when it is processed. */
  #processedEvents(slot: Slot, state: SlotState, at: bigint): LedgerEvent[] {
    if (this.#processed === null || slot > this.#processed) this.#processed = slot;
    const processed: LedgerEvent = { kind: 'processed', slot };
    if (state.statuses.has('createdBank')) return [processed];
    state.statuses.add('createdBank');
    return [this.#createdEvent(slot, state, at), processed];
  }

  /** Emits roots for skipped ancestors too. */
  #rootedEvents(slot: Slot, at: bigint): LedgerEvent[] {
    const chain: Slot[] = [slot];
    const last = this.#root;
    for (let next = this.#slots.get(slot)?.parent ?? null; next !== null && last !== null && next > last; ) {
      chain.push(next);
      next = this.#slots.get(next)?.parent ?? null;
    }
    this.#root = slot;
    for (const existing of this.#slots.keys()) if (existing <= slot) this.#slots.delete(existing);
    return chain.reverse().map((rooted) => ({ kind: 'rooted', slot: rooted, at }));
  }
}
