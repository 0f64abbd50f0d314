import { bytesKey } from '../../base/text/bytes-key.ts';
import type { RawAccount, RawBlockMeta, RawSlot, RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { RawBlockCounts } from '../../protocol/geyser/read-raw-update.ts';
import type { Slot } from '../../solana/units.ts';
import type { CountedKind, EncodedRequest } from './merge-filters.ts';
import type { RawContent, SlotEnd, SlotRecord } from './slot-record.ts';

export interface UpdateSink {
  /** @returns the record of a slot; null if the slot is finished or implausible. */
  record(slot: Slot): SlotRecord | null;
  /** Whether a slot precedes the source's first slot. */
  isEarlier(slot: Slot): boolean;
  /**
   * Starts a slot from its beginning, after `deaths` dead versions on this stream. `bank` is null if the server
   * sends no bank updates. Returns the record's version, or OUTDATED if the stream's version may be dead.
   */
  startSlot(record: SlotRecord, deaths: number, bank: RawSlot | null): number;
  emitContent(update: RawContent): void;
  /** The request shared by all streams; null while their requests differ or may be changing. */
  request(): string | null;
  endSlot(record: SlotRecord, end: SlotEnd): void;
  /** `deaths` includes this death. */
  handleDead(record: SlotRecord, deaths: number, update: RawSlot): void;
  /** Handles a `confirmed` or `finalized` status. */
  advanceSlot(update: RawSlot): void;
  /** Emits a `firstShredReceived` or `completed` status. */
  emitProgress(update: RawSlot): void;
}

export type StreamReaderOptions = Readonly<{
  /** First slot of the requested replay; null: no replay. */
  from: Slot | null;
  /** The newest slot. A replay starts at or before this slot. */
  tip: Slot | null;
  /** Whether to also emit missing updates of emitted slots up to `tip`, and slots before the source's first slot. */
  fillsIn: boolean;
  /** Whether the request includes block messages, which mark complete slots. */
  seals: boolean;
}>;

export const OUTDATED = -1;

const NONE: ReadonlySet<CountedKind> = new Set();

/** One stream's view of a slot. */
class SlotView {
  readonly record: SlotRecord;
  /** Number of dead versions of the slot on this stream. */
  readonly deaths: number;
  /** Whether the slot was received from its beginning. */
  isFromStart = false;
  /** The version of the record to which this view belongs. */
  version = OUTDATED;
  isDone = false;
  meta: RawBlockMeta | null = null;
  processed: RawSlot | null = null;
  isConfirmed = false;
  updatedAccountCount: number | null = null;
  /** Kinds of which the stream sends every update of the slot. */
  unfiltered: ReadonlySet<CountedKind> = NONE;
  /** Writes without a signature, by address: newest version and count. */
  ownWrites: Map<string, { version: bigint; count: number }> | null = null;

  constructor(record: SlotRecord, deaths: number) {
    this.record = record;
    this.deaths = deaths;
  }

  /** Whether the slot was received from its beginning and its record has not been restarted since. */
  get isAuthoritative(): boolean {
    return this.isFromStart && this.version === this.record.version;
  }

  /** Whether fewer updates were received, from all streams, than the block has. */
  isShort({ executedTransactionCount, entriesCount }: RawBlockMeta): boolean {
    const { emitted, entriesMin } = this.record;
    return (
      (this.unfiltered.has('transaction') && emitted.transaction < executedTransactionCount) ||
      (this.unfiltered.has('entry') && emitted.entry < Math.max(entriesCount, entriesMin))
    );
  }

  /** A validator does not count the entries of the blocks that it produces. */
  get hasUncountedEntries(): boolean {
    return this.unfiltered.has('entry') && this.meta?.entriesCount === 0;
  }
}

const VIEWS_MAX = 256;
/** After this many slots without a bank update, the server is assumed to send none. */
const BANKLESS_SLOTS = 3;
/** After this many confirmed slots without a block message, the server is assumed to send none. */
const UNSEALED_SLOTS = 3;
/** After this many consecutive slots with some, but not all, of their transactions, a server's counts are ignored. */
const SHORT_SLOTS = 8;

/** Emits only slots that it receives from their beginning, so that account writes stay in order. */
export class StreamReader {
  readonly #options: StreamReaderOptions;
  readonly #sink: UpdateSink;
  readonly #views = new Map<Slot, SlotView>();
  #last: SlotView | null = null;
  isReplaying = false;
  #sendsBanks = false;
  #ended = 0;
  #unsealed = 0;
  #shortSlots = 0;
  #unfiltered = NONE;
  /** The stream's current request: empty before the first, null until the server acknowledges a change. */
  request: string | null = '';
  newest: Slot | null = null;
  /** The slot that started or ended last; null if there is none, or if the reader was added with `fillsIn`. */
  slot: Slot | null = null;
  maxSlot: Slot | null = null;

  constructor(options: StreamReaderOptions, sink: UpdateSink) {
    this.#options = options;
    this.#sink = sink;
  }

  maySend(slot: Slot): boolean {
    const view = this.#views.get(slot);
    if (view?.isAuthoritative === true && !view.isDone) return true;
    const { from } = this.#options;
    return from !== null && from <= slot && (this.newest === null || this.newest < slot);
  }

  /** Whether the stream has started the slot but not ended it. */
  isSending(record: SlotRecord): boolean {
    const view = this.#views.get(record.slot);
    return view?.record === record && view.isAuthoritative && !view.isDone;
  }

  /** null: the request is changing. */
  setRequest(request: Pick<EncodedRequest, 'key' | 'unfiltered'> | null): void {
    const key = request?.key ?? null;
    if (key === this.request) return;
    this.request = key;
    this.#unfiltered = request?.unfiltered ?? NONE;
    for (const view of this.#views.values()) {
      view.unfiltered = NONE;
      if (!view.record.isSettled && view.isAuthoritative) view.record.noteRequest(null);
    }
  }

  end(): void {
    for (const view of this.#views.values()) if (!view.isDone) view.isFromStart = false;
  }

  reset(): void {
    this.#views.clear();
    this.#last = null;
    this.newest = null;
    this.maxSlot = this.slot;
  }

  handleUpdate(update: RawUpdate | RawBlockCounts): void {
    switch (update.kind) {
      case 'slot':
        this.#handleStatus(update);
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
        this.#handleContent(update);
    }
  }

  #handleContent(update: RawContent): void {
    if (update.kind === 'account' && update.isStartup) return;
    const view = this.#viewOf(update.slot);
    if (view === null || !view.isAuthoritative) return;
    const { record } = view;
    if (record.isSettled && !this.#fillsIn(record)) return;
    // An older write may follow emitted writes, so writes must be ordered.
    if (record.isSettled) record.noteRequest(null);
    const nth = update.kind === 'account' && update.signature === null ? nthOwnWrite(view, update) : 1;
    if (nth === 0) return;
    const isNew = record.addUpdate(update, nth);
    const { writeOrder } = record;
    const isOrdered = update.kind === 'account' && writeOrder !== null;
    if (isOrdered ? writeOrder.shouldEmit(view, update, isNew) : isNew) this.#sink.emitContent(update);
    // The last missing update may arrive after the end of the slot.
    if (view.processed !== null) this.#endIfComplete(view);
  }

  #fillsIn({ state, slot }: SlotRecord): boolean {
    const { fillsIn, tip } = this.#options;
    return fillsIn && state === 'emitted' && tip !== null && slot <= tip;
  }

  #handleStatus(update: RawSlot): void {
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
        if (view !== null) {
          const { record, isFromStart } = view;
          const deaths = view.deaths + 1;
          // Updates of the slot are dropped until its bank is created again.
          this.#deleteView(view);
          if (!this.#isBankless) this.#storeView(new SlotView(record, deaths));
          if (!isFromStart || view.isAuthoritative) this.#sink.handleDead(record, deaths, update);
        }
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
    if (existing?.isFromStart === true) return;
    if (existing !== undefined) this.#deleteView(existing);
    this.#startView(update.slot, true, update, existing?.deaths);
  }

  #takeProcessed(update: RawSlot): void {
    const view = this.#viewOf(update.slot);
    this.#ended++;
    if (view === null) return;
    if (!view.isAuthoritative) this.#advanceNewest(update.slot);
    view.record.parent ??= update.parent;
    view.processed = update;
    this.#endIfComplete(view);
  }

  #advanceNewest(slot: Slot): void {
    if (this.newest === null || slot > this.newest) this.newest = slot;
  }

  /** Ends a confirmed slot, even without a block message. */
  #endUnsealed(slot: Slot): void {
    const view = this.#views.get(slot);
    if (view === undefined || view.isDone || view.isConfirmed) return;
    view.isConfirmed = true;
    if (view.updatedAccountCount === null) this.#unsealed++;
    this.#endIfComplete(view);
    const { meta, record } = view;
    const isShort = !view.isDone && meta !== null && view.isShort(meta);
    // A restarting validator sends slots without transactions, so these prove nothing.
    if (isShort && record.emitted.transaction > 0) this.#shortSlots++;
  }

  /** Servers may send `processed` and the block meta before the last content of a slot, so they alone do not end it. */
  #isSealed(view: SlotView): boolean {
    if (view.isConfirmed) return true;
    if (view.hasUncountedEntries) return false;
    return !this.#options.seals || this.#unsealed >= UNSEALED_SLOTS || view.updatedAccountCount !== null;
  }

  #endIfComplete(view: SlotView): void {
    const { meta, processed, updatedAccountCount, record } = view;
    if (!view.isAuthoritative || view.isDone || meta === null || processed === null) return;
    if (!this.#isSealed(view)) return;
    if (this.#shortSlots < SHORT_SLOTS && !record.isSettled) {
      if (view.isShort(meta)) return;
      this.#shortSlots = 0;
    }
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

  /** @param isFirst - whether the stream receives the slot from its beginning. */
  #startView(slot: Slot, isFirst: boolean, bank: RawSlot | null, deaths = 0): SlotView | null {
    const record = this.#sink.record(slot);
    if (record === null) return null;
    const isFromStart = isFirst && (this.#options.fillsIn || !this.#sink.isEarlier(slot));
    const view = new SlotView(record, deaths);
    if (isFromStart) {
      view.isFromStart = true;
      view.unfiltered = this.#unfiltered;
      view.version = this.#sink.startSlot(record, deaths, bank);
      if (view.isAuthoritative) record.noteRequest(this.#sink.request());
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

  /** A server that ignores `from_slot` starts at its current slot. */
  #detectReplay(slot: Slot): void {
    const { from, tip } = this.#options;
    if (this.isReplaying || from === null || this.newest !== null) return;
    if (slot >= from && tip !== null && slot <= tip) this.isReplaying = true;
  }

  get #isBankless(): boolean {
    return !this.#sendsBanks && this.#ended >= BANKLESS_SLOTS;
  }

  #isCompleteFromHere(slot: Slot): boolean {
    const { from } = this.#options;
    if (this.isReplaying && from !== null && slot >= from) return true;
    return this.#isBankless && this.newest !== null && slot > this.newest;
  }
}

/** Ordinal of a write without a signature; 0 for a repeated write. */
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
