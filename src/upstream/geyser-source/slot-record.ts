import { createHash } from 'node:crypto';
import type { Slot } from '../../ledger/units.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import type {
  RawAccount,
  RawBlockMeta,
  RawEntry,
  RawSlot,
  RawTransaction,
} from '../../protocol/geyser/raw-update.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
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
  dying: RawSlot | null = null;
  /** Null while all streams that tell it were asked for the same. */
  order: WriteOrder | null = null;
  #asked: string | null = null;
  readonly #updatesMax: number;
  #statuses = new Set<SlotStatus>();
  #seen: SeenKeys;
  #entries = new Set<number>();

  /** @param updatesMax - updates that are remembered; what comes beyond them may be told more than once. */
  constructor(slot: Slot, updatesMax: number) {
    this.slot = slot;
    this.#updatesMax = updatesMax;
    this.#seen = new SeenKeys(updatesMax);
  }

  /** Whether it was told, or is given up. */
  get isSettled(): boolean {
    return this.state === 'told' || this.state === 'lost';
  }

  /** A stream tells it that was asked for this; null when that changes just now, or may. */
  toldAs(asked: string | null): void {
    this.#asked ??= asked;
    if (asked === null || asked !== this.#asked) this.order ??= new WriteOrder(this.isSettled);
  }

  hasTold(status: SlotStatus): boolean {
    return this.#statuses.has(status);
  }

  /** @returns whether a status was not told yet. */
  takeStatus(status: SlotStatus): boolean {
    if (this.#statuses.has(status)) return false;
    this.#statuses.add(status);
    return true;
  }

  /**
   * @param nth - of an account that the slot itself wrote: which of such writes it is. Versions of two nodes have
   * nothing to do with each other.
   * @returns whether an update was not told yet.
   */
  take(update: RawContent, nth: number): boolean {
    switch (update.kind) {
      case 'transaction':
        return this.#seen.raise(update.signature, null, 1);
      case 'account':
        if (update.signature === null) return this.#takeOwn(update, nth);
        return this.#seen.raise(update.address, update.signature, 1);
      case 'entry':
        if (this.#entries.has(update.index)) return false;
        if (this.#entries.size < this.#updatesMax) this.#entries.add(update.index);
        return true;
    }
  }

  /** Replays may leave out all but the last write: what says something new is new, whichever of them it is. */
  #takeOwn({ address, lamports, owner, data }: RawAccount, nth: number): boolean {
    const state = createHash('sha256').update(owner).update(String(lamports)).update(data).digest();
    const isOther = this.#seen.raise(address, state, 1);
    return this.#seen.raise(address, null, nth) || isOther;
  }

  /** It died: nothing that was told of it counts when its bank is made again. */
  startOver(deaths: number): void {
    this.deaths = deaths;
    this.version++;
    this.order = null;
    this.#asked = null;
    this.dying = null;
    this.#statuses = new Set();
    this.#seen = new SeenKeys(this.#updatesMax);
    this.#entries = new Set();
  }
}
