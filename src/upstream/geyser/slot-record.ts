import { createHash } from 'node:crypto';
import type { Commitment } from '../../protocol/commitment.ts';
import type {
  RawAccount,
  RawBlockMeta,
  RawEntry,
  RawSlot,
  RawTransaction,
} from '../../protocol/geyser/raw-update.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { Slot } from '../../solana/units.ts';
import { SeenKeys } from './seen-keys.ts';
import { WriteOrder } from './write-order.ts';

/**
 * `open` while it is being told; `waiting` when it is whole and a slot before it is not; `told` when it was told
 * whole; `lost` when it never will be.
 */
type SlotState = 'open' | 'waiting' | 'told' | 'lost';

/** What is in a slot. */
export type RawContent = RawTransaction | RawAccount | RawEntry;

/** What is told when a slot is whole. */
export type SlotEnd = Readonly<{ meta: RawBlockMeta; processed: RawSlot }>;

/** What of one slot was told, whoever told it. */
export class SlotRecord {
  readonly slot: Slot;
  parent: Slot | null = null;
  state: SlotState = 'open';
  /** How far it has come, as servers say. */
  level: Commitment = 'processed';
  /** Waits for the slot before. */
  end: SlotEnd | null = null;
  /** Of the version that was told; empty before. */
  blockhash = '';
  /** Since when; `performance.now()`. */
  waitingSince = 0;
  /** Versions of it that died before the one that is told, as its server counts them. */
  deaths = 0;
  /** Changes whenever telling starts over: what is said of the versions before is not told. */
  version = 0;
  /** What a server said whose version died, while others told it on. */
  deadUpdate: RawSlot | null = null;
  /** Null while all streams that tell it were asked for the same. */
  writeOrder: WriteOrder | null = null;
  #request: string | null = null;
  readonly #updatesMax: number;
  #statuses = new Set<SlotStatus>();
  #seenUpdates: SeenKeys;
  #entries = new Set<number>();

  /** @param updatesMax - updates that are remembered; what comes beyond them may be told more than once. */
  constructor(slot: Slot, updatesMax: number) {
    this.slot = slot;
    this.#updatesMax = updatesMax;
    this.#seenUpdates = new SeenKeys(updatesMax);
  }

  /** Whether it was told, or is given up. */
  get isSettled(): boolean {
    return this.state === 'told' || this.state === 'lost';
  }

  /** A stream tells it that was asked for this; null when that changes just now, or may. */
  noteRequest(request: string | null): void {
    this.#request ??= request;
    if (request === null || request !== this.#request) this.writeOrder ??= new WriteOrder(this.isSettled);
  }

  hasStatus(status: SlotStatus): boolean {
    return this.#statuses.has(status);
  }

  /** @returns whether a status was not told yet. */
  addStatus(status: SlotStatus): boolean {
    if (this.#statuses.has(status)) return false;
    this.#statuses.add(status);
    return true;
  }

  /**
   * @param nth - of an account that the slot itself wrote: which of such writes it is. Versions of two nodes have
   * nothing to do with each other.
   * @returns whether an update was not told yet.
   */
  addUpdate(update: RawContent, nth: number): boolean {
    switch (update.kind) {
      case 'transaction':
        return this.#seenUpdates.raise(update.signature, null, 1);
      case 'account':
        if (update.signature === null) return this.#addOwnWrite(update, nth);
        return this.#seenUpdates.raise(update.address, update.signature, 1);
      case 'entry':
        if (this.#entries.has(update.index)) return false;
        if (this.#entries.size < this.#updatesMax) this.#entries.add(update.index);
        return true;
    }
  }

  /** Replays may leave out all but the last write: what says something new is new, whichever of them it is. */
  #addOwnWrite({ address, lamports, owner, data }: RawAccount, nth: number): boolean {
    const state = createHash('sha256').update(owner).update(String(lamports)).update(data).digest();
    const isOther = this.#seenUpdates.raise(address, state, 1);
    return this.#seenUpdates.raise(address, null, nth) || isOther;
  }

  /** It died: nothing that was told of it counts when its bank is made again. */
  reset(deaths: number): void {
    this.deaths = deaths;
    this.version++;
    this.writeOrder = null;
    this.#request = null;
    this.deadUpdate = null;
    this.#statuses = new Set();
    this.#seenUpdates = new SeenKeys(this.#updatesMax);
    this.#entries = new Set();
  }
}
