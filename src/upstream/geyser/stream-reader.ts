import { bytesKey } from '../../base/text/bytes-key.ts';
import type { RawAccount, RawBlockMeta, RawSlot, RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { RawBlockCounts } from '../../protocol/geyser/read-raw-update.ts';
import type { Slot } from '../../solana/units.ts';
import type { RawContent, SlotEnd, SlotRecord } from './slot-record.ts';

/** Where what a teller says goes. */
export interface UpdateSink {
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
  startSlot(record: SlotRecord, deaths: number, bank: RawSlot | null): number;
  emitContent(update: RawContent): void;
  /** What all streams were asked for; null when that is not the same, or may not be. */
  request(): string | null;
  /** A slot was told whole. */
  endSlot(record: SlotRecord, end: SlotEnd): void;
  /** @param deaths - with this one. */
  handleDead(record: SlotRecord, deaths: number, update: RawSlot): void;
  /** Confirmed, finalized. */
  advanceSlot(update: RawSlot): void;
  /** First shred, completed. */
  emitProgress(update: RawSlot): void;
}

export type StreamReaderOptions = Readonly<{
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
type SlotView = {
  readonly record: SlotRecord;
  /** It tells the slot from its beginning on. */
  isComplete: boolean;
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
const VIEWS_MAX = 256;
/** Slots that end without their bank ever being told of, until a server counts as one that tells of no banks. */
const BANKLESS_SLOTS = 3;
/** Slots that are confirmed without a word of their block, until a server counts as one that tells of no blocks. */
const UNSEALED_SLOTS = 3;

/**
 * One stream of a server, from its beginning to its end. It speaks only for slots that it tells whole: since their
 * bank was made, or as part of a replay. What it says of others is dropped, so that the writes of an account come
 * in their order.
 */
export class StreamReader {
  readonly #options: StreamReaderOptions;
  readonly #sink: UpdateSink;
  readonly #views = new Map<Slot, SlotView>();
  #last: SlotView | null = null;
  #isReplaying = false;
  #sendsBanks = false;
  #ended = 0;
  /** Slots in a row of which no block was told. */
  #unsealed = 0;
  /** What its server was asked for; null when it is asked for something else and may not have taken that yet. */
  request: string | null = '';
  /** The newest slot that it told to its end. */
  newest: Slot | null = null;
  /** The slot that it began or ended last; null for none, or where old slots are told on purpose. */
  slot: Slot | null = null;
  /** The newest that `at` was. */
  maxSlot: Slot | null = null;

  constructor(options: StreamReaderOptions, sink: UpdateSink) {
    this.#options = options;
    this.#sink = sink;
  }

  /** Whether it has shown that it replays. */
  get isReplaying(): boolean {
    return this.#isReplaying;
  }

  /** Whether it may tell a slot whole yet, for all that is known. */
  maySend(slot: Slot): boolean {
    const view = this.#views.get(slot);
    if (view !== undefined && isAuthoritative(view) && !view.isDone) return true;
    const { from } = this.#options;
    return from !== null && from <= slot && (this.newest === null || this.newest < slot);
  }

  /** Whether it has begun a slot and not ended it. */
  isSending(record: SlotRecord): boolean {
    const view = this.#views.get(record.slot);
    return view?.record === record && isAuthoritative(view) && !view.isDone;
  }

  /** Its server was asked for something else, or has taken it: see `request`. */
  setRequest(request: string | null): void {
    if (request === this.request) return;
    this.request = request;
    for (const view of this.#views.values()) {
      if (!view.record.isSettled && isAuthoritative(view)) view.record.noteRequest(null);
    }
  }

  /** Nothing more comes: of what it has not told to its end nothing counts. */
  end(): void {
    for (const view of this.#views.values()) if (!view.isDone) view.isComplete = false;
  }

  /** Nothing that it told counts any more. */
  reset(): void {
    this.#views.clear();
    this.#last = null;
    this.newest = null;
    this.maxSlot = this.slot;
  }

  take(update: RawUpdate | RawBlockCounts): void {
    switch (update.kind) {
      case 'slot':
        this.#takeStatus(update);
        return;
      case 'blockCounts': {
        const view = this.#viewOf(update.slot);
        if (view === null) return;
        this.#unsealed = 0;
        view.updatedAccountCount = update.updatedAccountCount;
        this.#endIfComplete(view);
        return;
      }
      case 'blockMeta': {
        const view = this.#viewOf(update.slot);
        if (view === null) return;
        view.meta = update;
        this.#endIfComplete(view);
        return;
      }
      default:
        this.#takeContent(update);
    }
  }

  #takeContent(update: RawContent): void {
    if (update.kind === 'account' && update.isStartup) return;
    const view = this.#viewOf(update.slot);
    if (view === null || !isAuthoritative(view)) return;
    const { record } = view;
    if (record.isSettled && !this.#fillsIn(record)) return;
    // An older write may come behind those that were told.
    if (record.isSettled) record.noteRequest(null);
    const nth = update.kind === 'account' && update.signature === null ? nthOwnWrite(view, update) : 1;
    if (nth === 0) return;
    const isNew = record.addUpdate(update, nth);
    if (update.kind !== 'account' || record.writeOrder === null) {
      if (isNew) this.#sink.emitContent(update);
    } else if (record.writeOrder.take(view, update, isNew, isAuthoritative)) this.#sink.emitContent(update);
  }

  #fillsIn({ state, slot }: SlotRecord): boolean {
    const { fillsIn, tip } = this.#options;
    return fillsIn && state === 'told' && tip !== null && slot <= tip;
  }

  #takeStatus(update: RawSlot): void {
    const isPositionMark = update.status === 'createdBank' || update.status === 'processed';
    if (isPositionMark && !this.#options.fillsIn) this.#setPosition(update.slot);
    switch (update.status) {
      case 'createdBank':
        this.#takeBank(update);
        return;
      case 'processed':
        this.#takeProcessed(update);
        return;
      case 'dead': {
        const view = this.#viewOf(update.slot);
        if (view !== null) this.#handleDead(view, update);
        return;
      }
      case 'confirmed':
      case 'finalized':
        this.#endUnsealed(update.slot);
        this.#sink.advanceSlot(update);
        return;
      default:
        this.#sink.emitProgress(update);
    }
  }

  #setPosition(slot: Slot): void {
    this.slot = slot;
    if (this.maxSlot === null || slot > this.maxSlot) this.maxSlot = slot;
  }

  #takeBank(update: RawSlot): void {
    this.#sendsBanks = true;
    const existing = this.#views.get(update.slot);
    if (existing?.isComplete === true) return;
    if (existing !== undefined) this.#deleteView(existing);
    this.#startView(update.slot, true, update, existing?.deaths);
  }

  /** Nothing more is told of the slot until its bank is made again. */
  #handleDead(view: SlotView, update: RawSlot): void {
    const { record, isComplete } = view;
    const deaths = view.deaths + 1;
    this.#deleteView(view);
    if (!this.#isBankless) this.#storeView(newView(record, deaths));
    if (!isComplete || isAuthoritative(view)) this.#sink.handleDead(record, deaths, update);
  }

  #takeProcessed(update: RawSlot): void {
    const view = this.#viewOf(update.slot);
    this.#ended++;
    if (view === null) return;
    if (!isAuthoritative(view)) this.#advanceNewest(update.slot);
    view.record.parent ??= update.parent;
    view.processed = update;
    this.#endIfComplete(view);
  }

  #advanceNewest(slot: Slot): void {
    if (this.newest === null || slot > this.newest) this.newest = slot;
  }

  /** Of a slot that is confirmed, nothing is waited for any more. */
  #endUnsealed(slot: Slot): void {
    const view = this.#views.get(slot);
    if (view === undefined || view.isDone || view.isConfirmed) return;
    view.isConfirmed = true;
    if (view.updatedAccountCount === null) this.#unsealed++;
    this.#endIfComplete(view);
  }

  /** Servers may tell that a slot is processed, and its meta, before the last of what is in it. */
  #isSealed({ updatedAccountCount, isConfirmed }: SlotView): boolean {
    if (!this.#options.seals || this.#unsealed >= UNSEALED_SLOTS) return true;
    return updatedAccountCount !== null || isConfirmed;
  }

  #endIfComplete(view: SlotView): void {
    const { meta, processed, updatedAccountCount, record } = view;
    if (!isAuthoritative(view) || view.isDone || meta === null || processed === null) return;
    if (!this.#isSealed(view)) return;
    view.isDone = true;
    if (record.isSettled) record.writeOrder = null;
    else if (record.state === 'open')
      for (const update of record.writeOrder?.bufferedOf(view) ?? []) this.#sink.emitContent(update);
    this.#advanceNewest(record.slot);
    if (!this.#options.fillsIn) view.ownWrites = null;
    const countedMeta = updatedAccountCount === null ? meta : { ...meta, updatedAccountCount };
    this.#sink.endSlot(record, { meta: countedMeta, processed });
  }

  #viewOf(slot: Slot): SlotView | null {
    const last = this.#last;
    if (last !== null && last.record.slot === slot) return last;
    this.#detectReplay(slot);
    const view = this.#views.get(slot) ?? this.#startView(slot, this.#isCompleteFromHere(slot), null);
    this.#last = view;
    return view;
  }

  /** @param isFirst - the server has told nothing of the slot that the stream did not. */
  #startView(slot: Slot, isFirst: boolean, bank: RawSlot | null, deaths = 0): SlotView | null {
    const record = this.#sink.record(slot);
    if (record === null) return null;
    const isComplete = isFirst && (this.#options.fillsIn || !this.#sink.isEarlier(slot));
    const view = newView(record, deaths);
    if (isComplete) {
      view.isComplete = true;
      view.version = this.#sink.startSlot(record, deaths, bank);
      if (isAuthoritative(view)) record.noteRequest(this.#sink.request());
    }
    this.#storeView(view);
    return view;
  }

  #storeView(view: SlotView): void {
    this.#views.set(view.record.slot, view);
    if (this.#views.size > VIEWS_MAX) this.#deleteView(this.#views.values().next().value!);
  }

  #deleteView(view: SlotView): void {
    this.#views.delete(view.record.slot);
    if (this.#last === view) this.#last = null;
  }

  /** A server that takes no notice of `from_slot` begins with the slot that it is at. */
  #detectReplay(slot: Slot): void {
    const { from, tip } = this.#options;
    if (this.#isReplaying || from === null || this.newest !== null) return;
    if (slot >= from && tip !== null && slot <= tip) this.#isReplaying = true;
  }

  get #isBankless(): boolean {
    return !this.#sendsBanks && this.#ended >= BANKLESS_SLOTS;
  }

  #isCompleteFromHere(slot: Slot): boolean {
    const { from } = this.#options;
    if (this.#isReplaying && from !== null && slot >= from) return true;
    return this.#isBankless && this.newest !== null && slot > this.newest;
  }
}

const newView = (record: SlotRecord, deaths: number): SlotView => ({
  record,
  isComplete: false,
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
const isAuthoritative = ({ isComplete, version, record }: SlotView): boolean =>
  isComplete && version === record.version;

/** Which of the slot's own writes of its account an update is; 0 when the stream told it before. */
function nthOwnWrite(view: SlotView, { address, writeVersion }: RawAccount): number {
  view.ownWrites ??= new Map();
  const key = bytesKey(address);
  const existing = view.ownWrites.get(key);
  if (existing === undefined) {
    view.ownWrites.set(key, { version: writeVersion, count: 1 });
    return 1;
  }
  if (writeVersion <= existing.version) return 0;
  existing.version = writeVersion;
  existing.count++;
  return existing.count;
}
