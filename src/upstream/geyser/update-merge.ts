import { type Commitment, commitments } from '../../protocol/commitment.ts';
import { encodeTimestamp } from '../../protocol/geyser/encode/envelope.ts';
import { rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import { type RawSlot, updateKinds } from '../../protocol/geyser/raw-update.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import type { GeyserListener, ResetReason } from '../../streams/geyser/geyser-source.ts';
import { newer, newestOf } from '../slots/newest-slot.ts';
import type { ObservedSlot } from '../slots/slot-tracker.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import { JUMP_MAX_SLOTS, SlotPlausibility } from './max-plausible-slot.ts';
import { type RawContent, type SlotEnd, SlotRecord } from './slot-record.ts';
import { OUTDATED, StreamReader, type StreamReaderOptions, type UpdateSink } from './stream-reader.ts';

type UpdateMergeOptions = Readonly<{
  limits: Pick<GeyserSourceOptions, 'slotsMax' | 'slotUpdatesMax' | 'stallMs'>;
  listener: GeyserListener;
  head?: () => ObservedSlot | null;
  /** Called, in ascending slot order, when a slot before the source's first slot reaches a commitment level. */
  onEarlierStatus?: (update: RawSlot) => void;
  onStart: () => void;
  /** Called when a slot waits for an earlier slot that may be missing. See `missingRange`. */
  onWaiting: () => void;
}>;

/** `from` and `to` are inclusive. */
export type SlotRange = Readonly<{ from: Slot; to: Slot }>;

const LOST_RANGES_MAX = 64;

/**
 * Merges many streams and emits the first copy of each update. A slot becomes `processed` when one stream has sent it
 * completely, but never before its parent. Later updates of the slot are dropped, unless they are from a requested
 * replay.
 */
export class UpdateMerge implements UpdateSink {
  readonly #options: UpdateMergeOptions;
  readonly #records = new Map<Slot, SlotRecord>();
  readonly #waiting = new Set<SlotRecord>();
  /** Slots that were reported as confirmed or finalized, but that the chain may not have reached yet. */
  readonly #pendingLevels = new Set<Slot>();
  readonly #readers = new Set<StreamReader>();
  readonly #lostRanges: SlotRange[] = [];
  readonly #plausibility: SlotPlausibility;
  /** The source's first slot. No slot waits for slots before it. */
  #first: Slot | null = null;
  readonly #earlier: Record<'confirmed' | 'finalized', Slot | null> = { confirmed: null, finalized: null };
  #newest: Slot | null = null;
  #newestStarted: Slot | null = null;
  /** This slot and all earlier slots count as evicted. */
  #evictedUpTo: Slot | null = null;

  constructor(options: UpdateMergeOptions) {
    this.#options = options;
    const { limits, head = () => null } = options;
    this.#plausibility = new SlotPlausibility({ quietMs: limits.stallMs, head, streams: this.#readers });
  }

  get first(): Slot | null {
    return this.#first;
  }

  get newest(): Slot | null {
    return this.#newest ?? this.#first;
  }

  get newestStarted(): Slot | null {
    return this.#newestStarted;
  }

  addReader(options: StreamReaderOptions): StreamReader {
    const reader = new StreamReader(options, this);
    this.#readers.add(reader);
    return reader;
  }

  removeReader(reader: StreamReader): void {
    this.#readers.delete(reader);
    reader.end();
    if (this.#waiting.size > 0) this.#options.onWaiting();
  }

  /** The oldest range of missing slots for which other slots wait. */
  missingRange(now: number): SlotRange | null {
    let to: Slot | null = null;
    for (const { parent, waitingSince } of this.#waiting) {
      if (parent === null || this.#records.get(parent)?.state === 'waiting' || this.#isSettled(parent))
        continue;
      // A slot that the chain cannot have reached is not missing.
      if (!this.#plausibility.isPossible(parent)) continue;
      const isOverdue = now - waitingSince > this.#options.limits.stallMs;
      if (!isOverdue && this.#mayStillArrive(parent)) continue;
      if (to === null || parent < to) to = parent;
    }
    return to === null ? null : { from: this.#firstMissingBefore(to), to };
  }

  /** Reports slots as lost and emits the slots that waited for them. */
  giveUp({ from, to }: SlotRange): void {
    for (const [slot, record] of this.#records) {
      if (slot < from || slot > to || record.isSettled) continue;
      record.state = 'lost';
      this.#waiting.delete(record);
    }
    this.#lostRanges.push({ from, to });
    if (this.#lostRanges.length > LOST_RANGES_MAX) this.#lostRanges.shift();
    this.#options.listener.onLost(from, to, updateKinds);
    this.#plausibility.recordSlot(to);
    this.#settleWaiting();
  }

  record(slot: Slot): SlotRecord | null {
    const existing = this.#records.get(slot);
    if (existing !== undefined) return existing;
    const finishedUpTo = this.#finishedUpTo();
    if (finishedUpTo !== null && slot <= finishedUpTo && this.#plausibility.isChainReset(finishedUpTo))
      this.reset('chain');
    if ((this.#evictedUpTo !== null && slot <= this.#evictedUpTo) || !this.#plausibility.isPlausible(slot))
      return null;
    const { slotsMax, slotUpdatesMax } = this.#options.limits;
    const record = new SlotRecord(slot, slotUpdatesMax);
    if (this.#lostRanges.some(({ from, to }) => from <= slot && slot <= to)) record.state = 'lost';
    this.#records.set(slot, record);
    if (this.#records.size > slotsMax) this.#evictFarthest();
    return record;
  }

  isEarlier(slot: Slot): boolean {
    return this.#first !== null && slot < this.#first;
  }

  startSlot(record: SlotRecord, deaths: number, bank: RawSlot | null): number {
    if (record.state !== 'open') return deaths === record.deaths ? record.version : OUTDATED;
    if (deaths !== record.deaths && !this.#restartSlot(record, deaths)) return OUTDATED;
    const { slot } = record;
    this.#plausibility.recordSlot(slot);
    if (bank !== null) record.parent ??= bank.parent;
    if (this.#first === null) {
      this.#first = slot;
      this.#options.onStart();
    }
    if (this.#newestStarted === null || slot > this.#newestStarted) this.#newestStarted = slot;
    this.#emitStatus(record, bank ?? this.#statusOf(record, 'createdBank', null));
    return record.version;
  }

  emitContent(update: RawContent): void {
    this.#options.listener.onUpdate(update);
  }

  request(): string | null {
    const requests = new Set([...this.#readers].map(({ request }) => request));
    const [request = null] = requests;
    return requests.size === 1 ? request : null;
  }

  endSlot(record: SlotRecord, end: SlotEnd): void {
    if (record.state === 'emitted' && record.blockhash !== end.meta.blockhash) this.#resetIfBehind();
    if (record.state !== 'open') return;
    record.end = end;
    record.parent = end.meta.parentSlot;
    record.state = 'waiting';
    record.waitingSince = performance.now();
    this.#waiting.add(record);
    if (this.#isSettled(record.parent)) {
      this.#settle(record, end);
      this.#settleWaiting();
    } else this.#options.onWaiting();
  }

  handleDead(record: SlotRecord, deaths: number, update: RawSlot): void {
    if (record.state !== 'open' || !record.hasStatus('createdBank') || deaths <= record.deaths) return;
    // Other streams may send a version that is not dead.
    if (this.#isBeingSent(record)) record.deadUpdate ??= update;
    else this.#resetSlot(record, deaths, update);
  }

  advanceSlot(update: RawSlot): void {
    const level = update.status;
    if (this.#first === null || (level !== 'confirmed' && level !== 'finalized')) return;
    if (update.slot < this.#first && !this.#records.has(update.slot)) {
      this.#advanceEarlier(update, level);
      return;
    }
    const record = this.record(update.slot);
    if (record === null) return;
    record.parent ??= update.parent;
    if (commitments.indexOf(level) > commitments.indexOf(record.level)) record.level = level;
    this.#pendingLevels.add(update.slot);
    for (const slot of this.#pendingLevels) {
      if (!this.#plausibility.isPossible(slot)) continue;
      this.#pendingLevels.delete(slot);
      const possible = this.#records.get(slot);
      if (possible?.state === 'emitted') this.#raise(possible, update.createdAt);
    }
  }

  /** For slots before the source's first slot, only statuses are reported. */
  #advanceEarlier(update: RawSlot, level: 'confirmed' | 'finalized'): void {
    const newest = this.#earlier[level];
    if (newest !== null && update.slot <= newest) return;
    this.#earlier[level] = update.slot;
    this.#options.onEarlierStatus?.(update);
  }

  emitProgress(update: RawSlot): void {
    if (this.#first === null || update.slot < this.#first) return;
    const record = this.record(update.slot);
    if (record === null || record.isSettled) return;
    if (record.addStatus(update.status)) this.#options.listener.onUpdate(update);
  }

  #isBeingSent(record: SlotRecord): boolean {
    return [...this.#readers].some((reader) => reader.isSending(record));
  }

  /** Switches to an earlier version only if no stream still sends the later version. */
  #restartSlot(record: SlotRecord, deaths: number): boolean {
    if (deaths < record.deaths && this.#isBeingSent(record)) return false;
    this.#resetSlot(record, deaths, record.deadUpdate ?? this.#statusOf(record, 'dead', null));
    return true;
  }

  #resetSlot(record: SlotRecord, deaths: number, update: RawSlot): void {
    const wasEmitted = record.hasStatus('createdBank');
    record.reset(deaths);
    if (wasEmitted) this.#options.listener.onUpdate(update);
  }

  #emitStatus(record: SlotRecord, update: RawSlot): void {
    if (record.addStatus(update.status)) this.#options.listener.onUpdate(update);
  }

  #isSettled(slot: Slot): boolean {
    const existing = this.#records.get(slot);
    if (existing?.isSettled === true) return true;
    if (this.#first === null || slot < this.#first) return true;
    if (this.#evictedUpTo !== null && slot <= this.#evictedUpTo) return true;
    return this.#lostRanges.some(({ from, to }) => from <= slot && slot <= to);
  }

  #mayStillArrive(slot: Slot): boolean {
    return [...this.#readers].some((reader) => reader.maySend(slot));
  }

  /** The slot after the newest settled slot below `slot`. */
  #firstMissingBefore(slot: Slot): Slot {
    const settled = [...this.#records.values()].filter((record) => record.isSettled && record.slot < slot);
    const newest = newestOf(settled.map((record) => record.slot));
    return newest === null ? (this.#first ?? slot) : slotOf(newest + 1n);
  }

  #settleWaiting(): void {
    for (let isDone = false; !isDone; ) {
      isDone = true;
      for (const record of this.#waiting) {
        if (record.end === null || !this.#isSettled(record.end.meta.parentSlot)) continue;
        this.#settle(record, record.end);
        isDone = false;
      }
    }
  }

  #settle(record: SlotRecord, { meta, processed }: SlotEnd): void {
    this.#waiting.delete(record);
    record.end = null;
    record.state = 'emitted';
    record.blockhash = meta.blockhash;
    this.#options.listener.onUpdate(meta);
    this.#emitStatus(record, processed);
    if (this.#newest === null || record.slot > this.#newest) this.#newest = record.slot;
    if (record.level !== 'processed' && !this.#pendingLevels.has(record.slot))
      this.#raise(record, processed.createdAt);
  }

  /** Emits the commitments that a slot has reached, ancestors first. */
  #raise(record: SlotRecord, createdAt: Uint8Array): void {
    const targetLevel = commitments.indexOf(record.level);
    for (const level of commitments.slice(1, targetLevel + 1)) {
      const chain: SlotRecord[] = [];
      for (let at: SlotRecord | undefined = record; at?.state === 'emitted' && !at.hasStatus(level); ) {
        chain.push(at);
        at = at.parent === null ? undefined : this.#records.get(at.parent);
      }
      for (const each of chain.reverse()) {
        if (commitments.indexOf(level) > commitments.indexOf(each.level)) each.level = level;
        this.#emitStatus(each, this.#statusOf(each, level, createdAt));
      }
    }
    if (record.level === 'finalized') this.#dropForks(record.slot);
  }

  /** Creates a status that the server omitted. Uses the current time if `createdAt` is null. */
  #statusOf(
    { slot, parent }: SlotRecord,
    status: Commitment | 'createdBank' | 'dead',
    createdAt: Uint8Array | null,
  ): RawSlot {
    const at = createdAt ?? encodeTimestamp(BigInt(Date.now()));
    return rawSlot({ kind: 'slot', slot, parent, status, deadError: null }, at);
  }

  /** Unemitted slots below a finalized slot belong to abandoned forks, unless they are replayed history. */
  #dropForks(root: Slot): void {
    for (const [slot, record] of this.#records) {
      if (slot > root || record.isSettled || this.#first === null || slot < this.#first) continue;
      record.state = 'lost';
      record.end = null;
      this.#waiting.delete(record);
    }
  }

  /** All slots up to the returned slot were evicted or are far behind the newest; null if there are none. */
  #finishedUpTo(): Slot | null {
    const newestStarted = this.#newestStarted ?? 0n;
    const farBehind = newestStarted > JUMP_MAX_SLOTS ? slotOf(newestStarted - JUMP_MAX_SLOTS - 1n) : null;
    return newer(this.#evictedUpTo, farBehind);
  }

  /** If all streams are behind, a different blockhash for an emitted slot means that the chain was reset. */
  #resetIfBehind(): void {
    if (this.#newestStarted !== null && this.#plausibility.isBehind(this.#newestStarted)) this.reset('chain');
  }

  /** Discards all state. `chain`: the emitted slots were implausible, or the chain was reset. */
  reset(reason: ResetReason): void {
    for (const record of this.#records.values()) {
      record.reset(record.deaths);
      record.state = 'lost';
    }
    this.#records.clear();
    this.#waiting.clear();
    this.#pendingLevels.clear();
    this.#lostRanges.length = 0;
    for (const reader of this.#readers) reader.reset();
    this.#first = null;
    this.#newest = null;
    this.#newestStarted = null;
    this.#evictedUpTo = null;
    this.#plausibility.reset();
    this.#earlier.confirmed = null;
    this.#earlier.finalized = null;
    this.#options.listener.onReset(reason);
  }

  /** Evicts the slot farthest from the head, or the oldest slot if there is no trusted head. */
  #evictFarthest(): void {
    const head = this.#plausibility.head?.slot ?? null;
    let lowest: SlotRecord | null = null;
    let highest: SlotRecord | null = null;
    for (const record of this.#records.values()) {
      if (lowest === null || record.slot < lowest.slot) lowest = record;
      if (highest === null || record.slot > highest.slot) highest = record;
    }
    if (lowest === null || highest === null) return;
    const isAhead = head !== null && highest.slot - head > head - lowest.slot;
    const evicted = isAhead ? highest : lowest;
    this.#records.delete(evicted.slot);
    this.#pendingLevels.delete(evicted.slot);
    const wasWaiting = this.#waiting.delete(evicted);
    if (isAhead) {
      // A slot that is too far ahead starts again when the chain reaches it.
      evicted.state = 'lost';
      return;
    }
    this.#evictedUpTo = newer(this.#evictedUpTo, evicted.slot);
    if (!wasWaiting) return;
    this.#options.listener.onLost(evicted.slot, evicted.slot, updateKinds);
    this.#settleWaiting();
  }
}
