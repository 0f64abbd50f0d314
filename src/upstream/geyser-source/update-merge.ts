import { type Slot, slot as slotOf } from '../../ledger/units.ts';
import { type Commitment, commitments } from '../../protocol/commitment.ts';
import { rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import { encodeTimestamp } from '../../protocol/geyser/encode/timestamp.ts';
import { type RawSlot, updateKinds } from '../../protocol/geyser/raw-update.ts';
import type { GeyserListener } from '../../streams/geyser/geyser-source.ts';
import type { KnownSlot } from '../known-slots.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import { FAR_SLOTS, SlotHorizon } from './slot-horizon.ts';
import { type RawContent, type SlotEnd, SlotRecord } from './slot-record.ts';
import { OUTDATED, Teller, type TellerOptions, type Told } from './teller.ts';

export type UpdateMergeOptions = Readonly<{
  limits: Pick<GeyserSourceOptions, 'slotsMax' | 'slotUpdatesMax' | 'stallMs'>;
  listener: GeyserListener;
  /** The newest slot as somebody else knows it, such as nodes that are polled; null while nobody does. */
  head?: () => KnownSlot | null;
  /** The telling begins. */
  onFirst: () => void;
  /** A slot waits for one before it that may be missing: see `hole`. */
  onWaiting: () => void;
}>;

/** Slots, both included, of which the last is missing, and nobody is about to tell it. */
export type Hole = Readonly<{ from: Slot; to: Slot }>;

/** Ranges of slots that were given up, of which it is remembered. */
const LOST_MAX = 64;

/**
 * Makes one telling of a ledger out of those of many streams: the first copy of each update is told, the others are
 * dropped. A slot is `processed` when a stream has told it whole, and never before the slot that it stands on; what
 * comes later of it is dropped, but for what a replay was asked for.
 */
export class UpdateMerge implements Told {
  readonly #options: UpdateMergeOptions;
  readonly #records = new Map<Slot, SlotRecord>();
  readonly #waiting = new Set<SlotRecord>();
  /** Slots that are confirmed or final as a server says, and that the chain may not have come to. */
  readonly #raised = new Set<Slot>();
  readonly #tellers = new Set<Teller>();
  readonly #lost: Hole[] = [];
  readonly #horizon: SlotHorizon;
  /** The slot with which the telling begins: nothing waits for those before. */
  #first: Slot | null = null;
  #newest: Slot | null = null;
  #begun: Slot | null = null;
  /** Slots up to this one are forgotten. */
  #floor: Slot | null = null;

  constructor(options: UpdateMergeOptions) {
    this.#options = options;
    const { limits, head = () => null } = options;
    this.#horizon = new SlotHorizon({ quietMs: limits.stallMs, head, streams: this.#tellers });
  }

  /** The slot with which the telling began; null before. */
  get first(): Slot | null {
    return this.#first;
  }

  /** The newest slot that was told to its end, or the first one that was begun; null for neither. */
  get newest(): Slot | null {
    return this.#newest ?? this.#first;
  }

  /** The newest slot of which its bank was told, or that a replay began; null for none. */
  get begun(): Slot | null {
    return this.#begun;
  }

  /** A stream begins. */
  join(options: TellerOptions): Teller {
    const teller = new Teller(options, this);
    this.#tellers.add(teller);
    return teller;
  }

  /** It ended. */
  leave(teller: Teller): void {
    this.#tellers.delete(teller);
    teller.end();
    if (this.#waiting.size > 0) this.#options.onWaiting();
  }

  /** The oldest hole that keeps slots waiting; null for none. */
  hole(now: number): Hole | null {
    let to: Slot | null = null;
    for (const { parent, waitingSince } of this.#waiting) {
      if (parent === null || this.#records.get(parent)?.state === 'waiting' || this.#isSettled(parent))
        continue;
      // What nobody can tell yet is not missing.
      if (!this.#horizon.hasCome(parent)) continue;
      const isOverdue = now - waitingSince > this.#options.limits.stallMs;
      if (!isOverdue && this.#mayComeYet(parent)) continue;
      if (to === null || parent < to) to = parent;
    }
    return to === null ? null : { from: this.#behindTold(to), to };
  }

  /** Slots of a hole are not told any more; those that wait for them are. */
  giveUp({ from, to }: Hole): void {
    for (const [slot, record] of this.#records) {
      if (slot < from || slot > to || record.isSettled) continue;
      record.state = 'lost';
      this.#waiting.delete(record);
    }
    this.#lost.push({ from, to });
    if (this.#lost.length > LOST_MAX) this.#lost.shift();
    this.#options.listener.lost(from, to, updateKinds);
    this.#horizon.reached(to);
    this.#settleWaiting();
  }

  record(slot: Slot): SlotRecord | null {
    const known = this.#records.get(slot);
    if (known !== undefined) return known;
    const over = this.#over();
    if (over !== null && slot <= over && this.#horizon.isLeft(over)) this.#beginAnew();
    if ((this.#floor !== null && slot <= this.#floor) || !this.#horizon.takes(slot)) return null;
    const { slotsMax, slotUpdatesMax } = this.#options.limits;
    const record = new SlotRecord(slot, slotUpdatesMax);
    if (this.#lost.some(({ from, to }) => from <= slot && slot <= to)) record.state = 'lost';
    this.#records.set(slot, record);
    if (this.#records.size > slotsMax) this.#forgetFarthest();
    return record;
  }

  isEarlier(slot: Slot): boolean {
    return this.#first !== null && slot < this.#first;
  }

  begin(record: SlotRecord, deaths: number, bank: RawSlot | null): number {
    if (record.state !== 'open') return deaths === record.deaths ? record.version : OUTDATED;
    if (deaths !== record.deaths && !this.#startsOver(record, deaths)) return OUTDATED;
    const { slot } = record;
    this.#horizon.reached(slot);
    if (bank !== null) record.parent ??= bank.parent;
    if (this.#first === null) {
      this.#first = slot;
      this.#options.onFirst();
    }
    if (this.#begun === null || slot > this.#begun) this.#begun = slot;
    this.#tellStatus(record, bank ?? this.#statusOf(record, 'createdBank', null));
    return record.version;
  }

  content(update: RawContent): void {
    this.#options.listener.tell(update);
  }

  request(): string | null {
    const requests = new Set<string | null>();
    for (const teller of this.#tellers) requests.add(teller.request);
    const [request = null] = requests;
    return requests.size === 1 ? request : null;
  }

  end(record: SlotRecord, end: SlotEnd): void {
    if (record.state === 'told' && record.blockhash !== end.meta.blockhash) this.#beginAnewIfBelow();
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

  dead(record: SlotRecord, deaths: number, update: RawSlot): void {
    if (record.state !== 'open' || !record.hasTold('createdBank') || deaths <= record.deaths) return;
    // With the others it may live.
    if (this.#isBeingTold(record)) record.dying ??= update;
    else this.#kill(record, deaths, update);
  }

  reached(update: RawSlot): void {
    if (this.#first === null || (update.slot < this.#first && !this.#records.has(update.slot))) return;
    const record = this.record(update.slot);
    const level = update.status;
    if (record === null || (level !== 'confirmed' && level !== 'finalized')) return;
    record.parent ??= update.parent;
    if (commitments.indexOf(level) > commitments.indexOf(record.level)) record.level = level;
    this.#raised.add(update.slot);
    for (const slot of this.#raised) {
      if (!this.#horizon.hasCome(slot)) continue;
      this.#raised.delete(slot);
      const come = this.#records.get(slot);
      if (come?.state === 'told') this.#raise(come, update.createdAt);
    }
  }

  passed(update: RawSlot): void {
    if (this.#first === null || update.slot < this.#first) return;
    const record = this.record(update.slot);
    if (record === null || record.isSettled) return;
    if (record.takeStatus(update.status)) this.#options.listener.tell(update);
  }

  #isBeingTold(record: SlotRecord): boolean {
    for (const teller of this.#tellers) if (teller.isTelling(record)) return true;
    return false;
  }

  /**
   * A server begins a slot with other deaths behind it than what is told: a later version takes the place of the one
   * that is told. Of what may be an earlier one nothing is told, unless nobody tells the later one any more.
   */
  #startsOver(record: SlotRecord, deaths: number): boolean {
    if (deaths < record.deaths && this.#isBeingTold(record)) return false;
    this.#kill(record, deaths, record.dying ?? this.#statusOf(record, 'dead', null));
    return true;
  }

  #kill(record: SlotRecord, deaths: number, update: RawSlot): void {
    const wasTold = record.hasTold('createdBank');
    record.startOver(deaths);
    if (wasTold) this.#options.listener.tell(update);
  }

  #tellStatus(record: SlotRecord, update: RawSlot): void {
    if (record.takeStatus(update.status)) this.#options.listener.tell(update);
  }

  #isSettled(slot: Slot): boolean {
    const known = this.#records.get(slot);
    if (known?.isSettled === true) return true;
    if (this.#first === null || slot < this.#first) return true;
    if (this.#floor !== null && slot <= this.#floor) return true;
    return this.#lost.some(({ from, to }) => from <= slot && slot <= to);
  }

  #mayComeYet(slot: Slot): boolean {
    for (const teller of this.#tellers) if (teller.mayTell(slot)) return true;
    return false;
  }

  /** The slot behind the newest one that was told before this one. */
  #behindTold(slot: Slot): Slot {
    let told: Slot | null = null;
    for (const record of this.#records.values()) {
      if (record.isSettled && record.slot < slot && (told === null || record.slot > told)) told = record.slot;
    }
    return told === null ? (this.#first ?? slot) : slotOf(told + 1n);
  }

  /** What waits is told as far as the slots before it are. */
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
    record.state = 'told';
    record.blockhash = meta.blockhash;
    this.#options.listener.tell(meta);
    this.#tellStatus(record, processed);
    if (this.#newest === null || record.slot > this.#newest) this.#newest = record.slot;
    if (record.level !== 'processed' && !this.#raised.has(record.slot))
      this.#raise(record, processed.createdAt);
  }

  /** Tells the levels that a slot has reached, of it and, before, of all that it stands on. */
  #raise(record: SlotRecord, createdAt: Uint8Array): void {
    const wanted = commitments.indexOf(record.level);
    for (const level of commitments.slice(1, wanted + 1)) {
      const line: SlotRecord[] = [];
      for (let at: SlotRecord | undefined = record; at?.state === 'told' && !at.hasTold(level); ) {
        line.push(at);
        at = at.parent === null ? undefined : this.#records.get(at.parent);
      }
      for (const each of line.reverse()) {
        if (commitments.indexOf(level) > commitments.indexOf(each.level)) each.level = level;
        this.#tellStatus(each, this.#statusOf(each, level, createdAt));
      }
    }
    if (record.level === 'finalized') this.#dropForks(record.slot);
  }

  /** What a server should have told of a slot and did not. @param createdAt - null for now. */
  #statusOf(
    { slot, parent }: SlotRecord,
    status: Commitment | 'createdBank' | 'dead',
    createdAt: Uint8Array | null,
  ): RawSlot {
    const at = createdAt ?? encodeTimestamp(BigInt(Date.now()));
    return rawSlot({ kind: 'slot', slot, parent, status, deadError: null }, at);
  }

  /** What is not told when a slot above it is final never will be, unless it is history that is replayed. */
  #dropForks(root: Slot): void {
    for (const [slot, record] of this.#records) {
      if (slot > root || record.isSettled || this.#first === null || slot < this.#first) continue;
      record.state = 'lost';
      record.end = null;
      this.#waiting.delete(record);
    }
  }

  /** Slots up to this one are forgotten, or far behind what was begun; null for none. */
  #over(): Slot | null {
    const begun = this.#begun;
    const far = begun === null || begun <= FAR_SLOTS ? null : slotOf(begun - FAR_SLOTS - 1n);
    return this.#floor === null || (far !== null && far > this.#floor) ? far : this.#floor;
  }

  /** A slot that was told is another now: its chain began again if nobody is where that was any more. */
  #beginAnewIfBelow(): void {
    if (this.#begun !== null && this.#horizon.isBelow(this.#begun)) this.#beginAnew();
  }

  /** All that is told lies far behind what was told before: that was wrong, or its chain is no more. */
  #beginAnew(): void {
    for (const record of this.#records.values()) {
      record.startOver(record.deaths);
      record.state = 'lost';
    }
    this.#records.clear();
    this.#waiting.clear();
    this.#raised.clear();
    this.#lost.length = 0;
    for (const teller of this.#tellers) teller.startOver();
    this.#first = null;
    this.#newest = null;
    this.#begun = null;
    this.#floor = null;
    this.#horizon.forget();
    this.#options.listener.startOver('chain');
  }

  /** What lies farthest from the head goes; the oldest where no head is trusted. */
  #forgetFarthest(): void {
    const head = this.#horizon.head?.slot ?? null;
    let lowest: SlotRecord | null = null;
    let highest: SlotRecord | null = null;
    for (const record of this.#records.values()) {
      if (lowest === null || record.slot < lowest.slot) lowest = record;
      if (highest === null || record.slot > highest.slot) highest = record;
    }
    if (lowest === null || highest === null) return;
    if (head !== null && highest.slot - head > head - lowest.slot) this.#forgetAhead(highest);
    else this.#forgetOldest(lowest);
  }

  /** It may be no slot at all, and is begun again when the chain comes to it. */
  #forgetAhead(record: SlotRecord): void {
    this.#records.delete(record.slot);
    this.#raised.delete(record.slot);
    this.#waiting.delete(record);
    record.state = 'lost';
  }

  #forgetOldest(oldest: SlotRecord): void {
    this.#records.delete(oldest.slot);
    this.#raised.delete(oldest.slot);
    if (this.#floor === null || oldest.slot > this.#floor) this.#floor = oldest.slot;
    if (!this.#waiting.delete(oldest)) return;
    this.#options.listener.lost(oldest.slot, oldest.slot, updateKinds);
    this.#settleWaiting();
  }
}
