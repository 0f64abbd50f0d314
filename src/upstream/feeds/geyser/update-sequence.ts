import type { Address } from '../../../ledger/address.ts';
import type { Signature } from '../../../ledger/signature.ts';
import { type Slot, slot as slotOf } from '../../../ledger/units.ts';
import type { Update } from '../../../protocol/geyser/subscribe-update.ts';
import type { AccountUpdate } from '../../../protocol/geyser/update/account.ts';
import type { SlotStatus, SlotUpdate } from '../../../protocol/geyser/update/slot.ts';
import type { TransactionUpdate } from '../../../protocol/geyser/update/transaction.ts';
import type { LedgerEvent } from '../../../streams/ledger-event.ts';
import type { SlotInfo } from '../slot-info.ts';
import { ToldSlots } from './told-slots.ts';

/** Until a root was told. Source: Agave, `MAX_LOCKOUT_HISTORY`. */
const ROOT_DISTANCE = 32n;

const before = (slot: Slot): Slot => slotOf(slot > 0n ? slot - 1n : slot);

/** The writes of an account in a slot that were told. Versions of two nodes have nothing to do with each other. */
type Writes = { node: string; version: bigint; readonly signatures: Set<Signature | null> };

/** What of a slot was told. */
type ToldSlot = {
  parent: Slot | null;
  readonly statuses: Set<SlotStatus>;
  readonly signatures: Set<Signature>;
  readonly writes: Map<Address, Writes>;
};

const emptySlot = (): ToldSlot => ({
  parent: null,
  statuses: new Set(),
  signatures: new Set(),
  writes: new Map(),
});

/**
 * Turns what Geyser servers tell into the events of a ledger, each once, in whatever order and from whichever server
 * it comes: by slot and status, by signature, by account and the transaction that wrote it. What lies at or below
 * the root is over.
 */
export class UpdateSequence {
  readonly #slotsMax: number;
  readonly #onForgotten: (slot: Slot) => void;
  readonly #slots = new Map<Slot, ToldSlot>();
  #root: Slot | null = null;
  /** A root of about now, to show before one was told. */
  #knownRoot: Slot | null = null;
  /** Newest slot that was told to its end. */
  #processed: Slot | null = null;
  #oldest: Slot | null = null;

  /**
   * @param slotsMax - slots above the root that are remembered; beyond it the one known for longest is forgotten.
   * @param onForgotten - called then: roots below what stands on it will be missing.
   */
  constructor(slotsMax: number, onForgotten: (slot: Slot) => void) {
    this.#slotsMax = slotsMax;
    this.#onForgotten = onForgotten;
  }

  /** The newest root; null before one was told. */
  get root(): Slot | null {
    return this.#root;
  }

  get processed(): Slot | null {
    return this.#processed;
  }

  /** The newest slot that was told to its end; null for none. */
  get position(): SlotInfo | null {
    const slot = this.#processed;
    if (slot === null) return null;
    return { slot, parent: this.#slots.get(slot)?.parent ?? before(slot), root: this.#rootAt(slot) };
  }

  /** Which transactions were told until now; a view that more may change. */
  transactionsTold(): ToldSlots {
    const slots = [...this.#slots].map(([slot, { parent, statuses, signatures }]) => {
      const isConfirmed = statuses.has('confirmed');
      const isWhole = statuses.has('processed');
      return [slot, { parent, isWhole, isConfirmed, signatures }] as const;
    });
    return new ToldSlots(new Map(slots), this.#root, this.#oldest === null ? null : before(this.#oldest));
  }

  /** Names a root before a server does. */
  showRoot(root: Slot): void {
    this.#knownRoot = root;
  }

  /** Whether a slot was told to its end. */
  isWhole(slot: Slot): boolean {
    if (this.#root !== null && slot <= this.#root) return true;
    return this.#slots.get(slot)?.statuses.has('processed') === true;
  }

  /** What an update tells that was not told yet. */
  eventsOf(update: Update, at: bigint, node: string): readonly LedgerEvent[] {
    switch (update.kind) {
      case 'slot':
        return this.#isOver(update.slot) ? [] : this.#slotEvents(update, at);
      case 'transaction':
        return this.#isOver(update.slot) ? [] : this.#transactionEvents(update);
      case 'account':
        return this.#isOver(update.slot) || update.isStartup ? [] : this.#accountEvents(update, node);
      default:
        return [];
    }
  }

  #isOver(slot: Slot): boolean {
    return this.#root !== null && slot <= this.#root;
  }

  #told(slot: Slot): ToldSlot {
    const known = this.#slots.get(slot);
    if (known !== undefined) return known;
    const told = emptySlot();
    this.#slots.set(slot, told);
    if (this.#oldest === null || slot < this.#oldest) this.#oldest = slot;
    if (this.#slots.size > this.#slotsMax) this.#forgetFirst();
    return told;
  }

  #forgetFirst(): void {
    const [first] = this.#slots.keys();
    if (first === undefined) return;
    this.#slots.delete(first);
    this.#onForgotten(first);
  }

  #transactionEvents({ slot, placed }: TransactionUpdate): LedgerEvent[] {
    const { signatures } = this.#told(slot);
    if (signatures.has(placed.signature)) return [];
    signatures.add(placed.signature);
    const { index, executed, isVote } = placed;
    return [{ kind: 'transaction', slot, index, executed, isVote }];
  }

  #accountEvents({ slot, write }: AccountUpdate, node: string): LedgerEvent[] {
    const { writes } = this.#told(slot);
    const { address, account, writeVersion, signature } = write;
    const told = writes.get(address);
    if (told === undefined) {
      writes.set(address, { node, version: writeVersion, signatures: new Set([signature]) });
    } else {
      const isOlder = told.node === node ? writeVersion <= told.version : told.signatures.has(signature);
      if (isOlder || (signature !== null && told.signatures.has(signature))) return [];
      Object.assign(told, { node, version: writeVersion });
      told.signatures.add(signature);
    }
    const left = account.lamports === 0n ? null : account;
    return [{ kind: 'account', slot, address, account: left, signature, writeVersion }];
  }

  #slotEvents({ slot, parent, status, deadError }: SlotUpdate, at: bigint): LedgerEvent[] {
    if (this.#told(slot).statuses.has(status)) return [];
    const told = this.#begun(slot, status);
    told.statuses.add(status);
    told.parent ??= parent;
    switch (status) {
      case 'firstShredReceived':
        return [{ kind: 'firstShred', slot, at }];
      case 'completed':
        return [{ kind: 'completed', slot, at }];
      case 'createdBank':
        return [this.#created(slot, told, at)];
      case 'dead':
        return [{ kind: 'dead', slot, err: deadError ?? '', at }];
      case 'processed':
        return this.#processedEvents(slot, told, at);
      case 'confirmed':
        return [{ kind: 'confirmed', slot, at }];
      case 'finalized':
        return this.#rootedEvents(slot, at);
    }
  }

  /**
   * A slot that dies, because a node had a bad version of its block, may be repaired and replayed: nothing that was
   * told of the dead one counts then.
   */
  #begun(slot: Slot, status: SlotStatus): ToldSlot {
    const told = this.#told(slot);
    const isNew = status === 'dead' || (status === 'createdBank' && told.statuses.has('dead'));
    if (!isNew) return told;
    const fresh = { ...emptySlot(), parent: told.parent };
    this.#slots.set(slot, fresh);
    return fresh;
  }

  #created(slot: Slot, told: ToldSlot, at: bigint): LedgerEvent {
    return { kind: 'created', slot, parent: told.parent ?? before(slot), root: this.#rootAt(slot), at };
  }

  #rootAt(slot: Slot): Slot {
    return this.#root ?? this.#knownRoot ?? slotOf(slot > ROOT_DISTANCE ? slot - ROOT_DISTANCE : 0n);
  }

  /** Servers that do not tell of new banks tell of a slot for the first time when it is processed. */
  #processedEvents(slot: Slot, told: ToldSlot, at: bigint): LedgerEvent[] {
    if (this.#processed === null || slot > this.#processed) this.#processed = slot;
    const processed: LedgerEvent = { kind: 'processed', slot };
    if (told.statuses.has('createdBank')) return [processed];
    told.statuses.add('createdBank');
    return [this.#created(slot, told, at), processed];
  }

  /** Every slot of the chain is rooted in turn, also those whose turn was not told. */
  #rootedEvents(slot: Slot, at: bigint): LedgerEvent[] {
    const line: Slot[] = [slot];
    const last = this.#root;
    for (let next = this.#slots.get(slot)?.parent ?? null; next !== null && last !== null && next > last; ) {
      line.push(next);
      next = this.#slots.get(next)?.parent ?? null;
    }
    this.#root = slot;
    for (const known of this.#slots.keys()) if (known <= slot) this.#slots.delete(known);
    return line.reverse().map((rooted) => ({ kind: 'rooted', slot: rooted, at }));
  }
}
