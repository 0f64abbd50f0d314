import { bytesKey } from '../../base/bytes-key.ts';
import type { Slot } from '../../ledger/units.ts';
import type { RawAccount, RawBlockMeta, RawSlot, RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { RawBlockCounts } from '../../protocol/geyser/read-raw-update.ts';
import type { RawContent, SlotEnd, SlotRecord } from './slot-record.ts';

/** Where what a teller says goes. */
export interface Told {
  /** null for a slot that is over. */
  record(slot: Slot): SlotRecord | null;
  /** Whether a slot lies before the one with which the telling began. */
  isEarlier(slot: Slot): boolean;
  /**
   * A slot is told from its beginning on.
   * @param deaths - versions of it that died before, as the stream has told.
   * @param bank - null where its server says nothing of banks.
   * @returns the version of the record that it tells; OUTDATED when it may be one that died.
   */
  begin(record: SlotRecord, deaths: number, bank: RawSlot | null): number;
  content(update: RawContent): void;
  /** What all streams were asked for; null when that is not the same, or may not be. */
  request(): string | null;
  /** A slot was told whole. */
  end(record: SlotRecord, end: SlotEnd): void;
  /** @param deaths - with this one. */
  dead(record: SlotRecord, deaths: number, update: RawSlot): void;
  /** Confirmed, finalized. */
  reached(update: RawSlot): void;
  /** First shred, completed. */
  passed(update: RawSlot): void;
}

export type TellerOptions = Readonly<{
  /** The slot from which on a replay was asked for; null for none. */
  from: Slot | null;
  /** The newest slot at that time: a server that replays begins at or before it. */
  tip: Slot | null;
  /**
   * Updates of slots up to `tip` that were told without them are told still, and so are slots before the one with
   * which the telling began.
   */
  fillsIn: boolean;
  /** The server was asked for blocks, which it tells of when all of their slot was told. */
  seals: boolean;
}>;

/** No version of a record. */
export const OUTDATED = -1;

/** A stream's own view of a slot. */
type Share = {
  readonly record: SlotRecord;
  /** It tells the slot from its beginning on. */
  isWhole: boolean;
  /** Of the record, which it speaks for. */
  version: number;
  /** Versions of the slot that died on it. */
  readonly deaths: number;
  isDone: boolean;
  meta: RawBlockMeta | null;
  processed: RawSlot | null;
  isConfirmed: boolean;
  updatedAccountCount: number | null;
  /** Accounts that the slot itself wrote, by address: the newest version, and how many there were. */
  ownWrites: Map<string, { version: bigint; count: number }> | null;
};

/** Slots of which a stream's view is kept. */
const SHARES_MAX = 256;
/** Slots that end without their bank ever being told of, until a server counts as one that tells of no banks. */
const BANKLESS_SLOTS = 3;
/** Slots that are confirmed without a word of their block, until a server counts as one that tells of no blocks. */
const UNSEALED_SLOTS = 3;

/**
 * One stream of a server, from its beginning to its end. It speaks only for slots that it tells whole: since their
 * bank was made, or as part of a replay. What it says of others is dropped, so that the writes of an account come
 * in their order.
 */
export class Teller {
  readonly #options: TellerOptions;
  readonly #told: Told;
  readonly #shares = new Map<Slot, Share>();
  #last: Share | null = null;
  #replays = false;
  #tellsBanks = false;
  #ended = 0;
  /** Slots in a row of which no block was told. */
  #unsealed = 0;
  /** What its server was asked for; null when it is asked for something else and may not have taken that yet. */
  request: string | null = '';
  /** The newest slot that it told to its end. */
  newest: Slot | null = null;
  /** The slot that it began or ended last; null for none, or where old slots are told on purpose. */
  at: Slot | null = null;
  /** The newest that `at` was. */
  farthest: Slot | null = null;

  constructor(options: TellerOptions, told: Told) {
    this.#options = options;
    this.#told = told;
  }

  /** Whether it has shown that it replays. */
  get replays(): boolean {
    return this.#replays;
  }

  /** Whether it may tell a slot whole yet, for all that is known. */
  mayTell(slot: Slot): boolean {
    const share = this.#shares.get(slot);
    if (share !== undefined && speaks(share) && !share.isDone) return true;
    const { from } = this.#options;
    return from !== null && from <= slot && (this.newest === null || this.newest < slot);
  }

  /** Whether it has begun a slot and not ended it. */
  isTelling(record: SlotRecord): boolean {
    const share = this.#shares.get(record.slot);
    return share?.record === record && speaks(share) && !share.isDone;
  }

  /** Its server was asked for something else, or has taken it: see `request`. */
  asked(request: string | null): void {
    if (request === this.request) return;
    this.request = request;
    for (const share of this.#shares.values()) {
      if (!share.record.isSettled && speaks(share)) share.record.toldAs(null);
    }
  }

  /** Nothing more comes: of what it has not told to its end nothing counts. */
  end(): void {
    for (const share of this.#shares.values()) if (!share.isDone) share.isWhole = false;
  }

  /** Nothing that it told counts any more. */
  startOver(): void {
    this.#shares.clear();
    this.#last = null;
    this.newest = null;
    this.farthest = this.at;
  }

  take(update: RawUpdate | RawBlockCounts): void {
    switch (update.kind) {
      case 'slot':
        this.#takeStatus(update);
        return;
      case 'blockCounts': {
        const share = this.#shareOf(update.slot);
        if (share === null) return;
        this.#unsealed = 0;
        share.updatedAccountCount = update.updatedAccountCount;
        this.#endIfWhole(share);
        return;
      }
      case 'blockMeta': {
        const share = this.#shareOf(update.slot);
        if (share === null) return;
        share.meta = update;
        this.#endIfWhole(share);
        return;
      }
      default:
        this.#takeContent(update);
    }
  }

  #takeContent(update: RawContent): void {
    if (update.kind === 'account' && update.isStartup) return;
    const share = this.#shareOf(update.slot);
    if (share === null || !speaks(share)) return;
    const { record } = share;
    if (record.isSettled && !this.#fillsIn(record)) return;
    // An older write may come behind those that were told.
    if (record.isSettled) record.toldAs(null);
    const nth = update.kind === 'account' && update.signature === null ? nthOwnWrite(share, update) : 1;
    if (nth === 0) return;
    const isNew = record.take(update, nth);
    if (update.kind !== 'account' || record.order === null) {
      if (isNew) this.#told.content(update);
    } else if (record.order.take(share, update, isNew, speaks)) this.#told.content(update);
  }

  #fillsIn({ state, slot }: SlotRecord): boolean {
    const { fillsIn, tip } = this.#options;
    return fillsIn && state === 'told' && tip !== null && slot <= tip;
  }

  #takeStatus(update: RawSlot): void {
    const isMark = update.status === 'createdBank' || update.status === 'processed';
    if (isMark && !this.#options.fillsIn) this.#isAt(update.slot);
    switch (update.status) {
      case 'createdBank':
        this.#takeBank(update);
        return;
      case 'processed':
        this.#takeProcessed(update);
        return;
      case 'dead': {
        const share = this.#shareOf(update.slot);
        if (share !== null) this.#die(share, update);
        return;
      }
      case 'confirmed':
      case 'finalized':
        this.#endUnsealed(update.slot);
        this.#told.reached(update);
        return;
      default:
        this.#told.passed(update);
    }
  }

  #isAt(slot: Slot): void {
    this.at = slot;
    if (this.farthest === null || slot > this.farthest) this.farthest = slot;
  }

  #takeBank(update: RawSlot): void {
    this.#tellsBanks = true;
    const known = this.#shares.get(update.slot);
    if (known?.isWhole === true) return;
    if (known !== undefined) this.#forget(known);
    this.#begin(update.slot, true, update, known?.deaths);
  }

  /** Nothing more is told of the slot until its bank is made again. */
  #die(share: Share, update: RawSlot): void {
    const { record, isWhole } = share;
    const deaths = share.deaths + 1;
    this.#forget(share);
    if (!this.#isBankless) this.#keep(newShare(record, deaths));
    if (!isWhole || speaks(share)) this.#told.dead(record, deaths, update);
  }

  #takeProcessed(update: RawSlot): void {
    const share = this.#shareOf(update.slot);
    this.#ended++;
    if (share === null) return;
    if (!speaks(share)) this.#passed(update.slot);
    share.record.parent ??= update.parent;
    share.processed = update;
    this.#endIfWhole(share);
  }

  #passed(slot: Slot): void {
    if (this.newest === null || slot > this.newest) this.newest = slot;
  }

  /** Of a slot that is confirmed, nothing is waited for any more. */
  #endUnsealed(slot: Slot): void {
    const share = this.#shares.get(slot);
    if (share === undefined || share.isDone || share.isConfirmed) return;
    share.isConfirmed = true;
    if (share.updatedAccountCount === null) this.#unsealed++;
    this.#endIfWhole(share);
  }

  /** Servers may tell that a slot is processed, and its meta, before the last of what is in it. */
  #isSealed({ updatedAccountCount, isConfirmed }: Share): boolean {
    if (!this.#options.seals || this.#unsealed >= UNSEALED_SLOTS) return true;
    return updatedAccountCount !== null || isConfirmed;
  }

  #endIfWhole(share: Share): void {
    const { meta, processed, updatedAccountCount, record } = share;
    if (!speaks(share) || share.isDone || meta === null || processed === null) return;
    if (!this.#isSealed(share)) return;
    share.isDone = true;
    if (record.isSettled) record.order = null;
    else if (record.state === 'open')
      for (const update of record.order?.heldOf(share) ?? []) this.#told.content(update);
    this.#passed(record.slot);
    if (!this.#options.fillsIn) share.ownWrites = null;
    const counted = updatedAccountCount === null ? meta : { ...meta, updatedAccountCount };
    this.#told.end(record, { meta: counted, processed });
  }

  #shareOf(slot: Slot): Share | null {
    const last = this.#last;
    if (last !== null && last.record.slot === slot) return last;
    this.#look(slot);
    const share = this.#shares.get(slot) ?? this.#begin(slot, this.#isWholeFromHere(slot), null);
    this.#last = share;
    return share;
  }

  /** @param isFirst - the server has told nothing of the slot that the stream did not. */
  #begin(slot: Slot, isFirst: boolean, bank: RawSlot | null, deaths = 0): Share | null {
    const record = this.#told.record(slot);
    if (record === null) return null;
    const isWhole = isFirst && (this.#options.fillsIn || !this.#told.isEarlier(slot));
    const share = newShare(record, deaths);
    if (isWhole) {
      share.isWhole = true;
      share.version = this.#told.begin(record, deaths, bank);
      if (speaks(share)) record.toldAs(this.#told.request());
    }
    this.#keep(share);
    return share;
  }

  #keep(share: Share): void {
    this.#shares.set(share.record.slot, share);
    if (this.#shares.size > SHARES_MAX) this.#forget(this.#shares.values().next().value!);
  }

  #forget(share: Share): void {
    this.#shares.delete(share.record.slot);
    if (this.#last === share) this.#last = null;
  }

  /** A server that takes no notice of `from_slot` begins with the slot that it is at. */
  #look(slot: Slot): void {
    const { from, tip } = this.#options;
    if (this.#replays || from === null || this.newest !== null) return;
    if (slot >= from && tip !== null && slot <= tip) this.#replays = true;
  }

  get #isBankless(): boolean {
    return !this.#tellsBanks && this.#ended >= BANKLESS_SLOTS;
  }

  #isWholeFromHere(slot: Slot): boolean {
    const { from } = this.#options;
    if (this.#replays && from !== null && slot >= from) return true;
    return this.#isBankless && this.newest !== null && slot > this.newest;
  }
}

const newShare = (record: SlotRecord, deaths: number): Share => ({
  record,
  isWhole: false,
  version: OUTDATED,
  deaths,
  isDone: false,
  meta: null,
  processed: null,
  isConfirmed: false,
  updatedAccountCount: null,
  ownWrites: null,
});

/** Whether what a stream says of a slot counts: it tells it whole, and the version that is told. */
const speaks = ({ isWhole, version, record }: Share): boolean => isWhole && version === record.version;

/** Which of the slot's own writes of its account an update is; 0 when the stream told it before. */
function nthOwnWrite(share: Share, { address, writeVersion }: RawAccount): number {
  share.ownWrites ??= new Map();
  const key = bytesKey(address);
  const known = share.ownWrites.get(key);
  if (known === undefined) {
    share.ownWrites.set(key, { version: writeVersion, count: 1 });
    return 1;
  }
  if (writeVersion <= known.version) return 0;
  known.version = writeVersion;
  known.count++;
  return known.count;
}
