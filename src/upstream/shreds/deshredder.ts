import { bytesKey } from '../../base/text/bytes-key.ts';
import { measureEntries } from '../../solana/entries.ts';
import { parseShred, type Shred, slotOf, versionOf } from '../../solana/shred/parse-shred.ts';
import { DATA_HEADERS_BYTES, SIGNATURE_BYTES } from '../../solana/shred/shred-layout.ts';
import type { Slot } from '../../solana/units.ts';
import type { DeshredListener } from '../../streams/deshred/deshred-event.ts';
import { type DeshredLimits, deshredLimits } from './deshred-limits.ts';
import { type DeshredStats, type DropReason, noStats } from './deshred-stats.ts';
import type { FecSet } from './fec-set.ts';
import { PendingPackets } from './pending-packets.ts';
import { ShredVerifier } from './shred-verifier.ts';
import { type CompleteBatch, SlotShreds } from './slot-shreds.ts';
import { SlotWindow } from './slot-window.ts';

export type DeshredderOptions = Readonly<{
  /** Of the cluster; shreds of others are dropped. null takes all, and is asked for with each packet. */
  shredVersion: () => number | null;
  /** Who leads in a slot, 32 bytes; null when it is not known. */
  leaderOf: (slot: Slot) => Uint8Array | null;
  /** The newest slot that is known from elsewhere; null while none is, and the shreds have to say it themselves. */
  newestSlot?: () => Slot | null;
  /** What becomes of packets whose leader is not known: they wait for `releaseHeld`, or are dropped. */
  unverified: 'hold' | 'drop';
  limits?: Partial<DeshredLimits>;
}>;

/** Between two looks at packets that wait to be judged, and how many signatures are verified at one. */
const VERIFY_INTERVAL_MS = 5;
const VERIFY_BATCH = 16;

/**
 * Makes batches of entries of shreds, in whatever order, number and company they come. Nothing that the slot's leader
 * did not sign has any effect but on the counters: it takes no place of a shred, and no memory. Source: agave ledger,
 * `blockstore.rs`; jito shredstream-proxy, `deshred.rs`.
 */
export class Deshredder {
  readonly #options: DeshredderOptions;
  readonly #limits: DeshredLimits;
  readonly #listener: Pick<DeshredListener, 'onBatch' | 'onSlot'>;
  readonly #slots = new Map<Slot, SlotShreds>();
  readonly #window: SlotWindow;
  readonly #pending: PendingPackets;
  readonly #verifier: ShredVerifier;
  readonly #stats: DeshredStats = noStats();
  /** Of the slots, in bytes. */
  #bytes = 0;
  #openSlots = 0;
  #hasNewSlot = false;
  #verifyTimer: NodeJS.Timeout | null = null;

  constructor(options: DeshredderOptions, listener: Pick<DeshredListener, 'onBatch' | 'onSlot'>) {
    this.#options = options;
    this.#limits = { ...deshredLimits, ...options.limits };
    this.#listener = listener;
    this.#window = new SlotWindow({
      limits: this.#limits,
      newestSlot: options.newestSlot ?? (() => null),
    });
    this.#pending = new PendingPackets(this.#limits.heldBytesMax);
    this.#verifier = new ShredVerifier(this.#limits);
  }

  /** Running totals; the object is the same all the time. */
  get stats(): Readonly<DeshredStats> {
    this.#stats.signatures = this.#verifier.signatures;
    return this.#stats;
  }

  /** Bytes of shreds, of packets that wait for their leader or their turn, and slots that are known of. */
  get usage() {
    return {
      bytes: this.#bytes,
      pendingBytes: this.#pending.bytes,
      unverifiedBytes: this.#verifier.unverifiedBytes,
      openSlots: this.#openSlots,
      slots: this.#slots.size,
    };
  }

  /**
   * Takes what came in one packet, whatever it is. Never throws; what the listener is told of it, it is told before
   * this returns, or soon after when so much is forged that the packet has to wait to be judged.
   * @param packet - not kept.
   */
  push(packet: Uint8Array): void {
    this.#stats.packets++;
    this.#drop(this.#take(packet, this.#options.unverified === 'hold'));
    this.#releaseOnNewSlot();
  }

  /** Forgets what waits to be judged, and tells nothing any more by itself. Harmless when it is done already. */
  close(): void {
    if (this.#verifyTimer !== null) clearTimeout(this.#verifyTimer);
    this.#verifyTimer = null;
    this.#verifier.clearWaiting();
  }

  #releaseOnNewSlot(): void {
    if (!this.#hasNewSlot) return;
    this.#hasNewSlot = false;
    if (this.#pending.size > 0) this.releasePending();
  }

  /**
   * Packets that waited for their leader to be known are taken, now that more leaders are. Also done by itself,
   * whenever a slot begins.
   */
  releasePending(): void {
    const isKnown = (slot: Slot): boolean => this.#options.leaderOf(slot) !== null;
    for (const packet of this.#pending.take(isKnown)) this.#drop(this.#take(packet, false));
  }

  #drop(reason: DropReason | null): void {
    if (reason !== null) this.#stats.drops[reason]++;
  }

  /** @returns why it came to nothing. */
  #take(packet: Uint8Array, mayBuffer: boolean): DropReason | null {
    const refusal = this.#refusalOf(packet);
    if (refusal !== null) return refusal;
    const shred = parseShred(packet);
    if (typeof shred === 'string') return shred;
    const tracked = this.#slots.get(shred.slot);
    if (tracked?.has(shred) === true) return 'duplicate';
    if (shred.index >= this.#limits.shredsPerSlotMax) return 'slotFull';
    const leader = tracked?.leader ?? this.#options.leaderOf(shred.slot);
    if (leader !== null) return this.#verify(shred, leader, tracked);
    if (!mayBuffer) return 'leaderUnknown';
    this.#buffer(shred.slot, packet);
    return null;
  }

  /** What needs no more than a look at two numbers. */
  #refusalOf(packet: Uint8Array): DropReason | null {
    if (packet.length < DATA_HEADERS_BYTES) return 'Length';
    const version = this.#options.shredVersion();
    if (version !== null && version !== versionOf(packet)) return 'version';
    const slot = slotOf(packet);
    return this.#window.faultOf(slot) ?? (this.#slots.get(slot)?.isClosed === true ? 'slotClosed' : null);
  }

  #buffer(slot: Slot, packet: Uint8Array): void {
    this.#stats.pending++;
    this.#stats.drops.leaderUnknown += this.#pending.add(slot, packet);
  }

  #verify(shred: Shred, leader: Uint8Array, tracked: SlotShreds | undefined): DropReason | null {
    const decision = this.#verifier.check(shred, leader, tracked?.setOf(shred));
    if (decision.kind === 'waits') {
      this.#stats.drops.unjudged += decision.evicted;
      this.#scheduleVerification();
      return null;
    }
    const { kind, waiting } = decision;
    if (kind !== 'sibling' && kind !== 'first') {
      this.#stats.drops[kind] += waiting.length;
      return kind;
    }
    const reason = this.#insert(shred, leader, tracked, kind === 'first' ? decision : null);
    for (const packet of waiting) this.#drop(this.#take(packet, false));
    return reason;
  }

  #scheduleVerification(): void {
    this.#verifyTimer ??= setTimeout(() => {
      this.#verifyTimer = null;
      this.#verifyWaiting();
    }, VERIFY_INTERVAL_MS).unref();
  }

  /** Some of what waits, so that nothing else is kept waiting for long. */
  #verifyWaiting(): void {
    for (let count = 0; count < VERIFY_BATCH; count++) {
      const packet = this.#verifier.takeWaiting();
      if (packet === null) break;
      this.#drop(this.#take(packet, false));
    }
    this.#releaseOnNewSlot();
    if (this.#verifier.unverifiedBytes > 0) this.#scheduleVerification();
  }

  /** @param first - what was proven of it, when it is the first of its set. */
  #insert(
    shred: Shred,
    leader: Uint8Array,
    tracked: SlotShreds | undefined,
    first: Readonly<{ root: Uint8Array | null }> | null,
  ): DropReason | null {
    const slot = tracked ?? this.#startSlot(shred, leader);
    if (slot.isClosed) return 'slotClosed';
    if (slot.contradicts(shred)) return 'inconsistent';
    const set = first === null ? slot.setOf(shred) : this.#startSet(slot, shred, first.root);
    if (set === undefined) return 'slotFull';
    this.#accept(slot, set, shred);
    if (set.isRecoverable && !slot.isClosed) this.#recover(slot, set);
    this.#closeIfComplete(slot);
    return null;
  }

  #startSlot(shred: Shred, leader: Uint8Array): SlotShreds {
    const slot = new SlotShreds(shred.slot, leader);
    this.#slots.set(shred.slot, slot);
    this.#openSlots++;
    this.#hasNewSlot = true;
    this.#window.recordSlot(shred.slot);
    this.#evictSlots();
    const parent = shred.kind === 'data' ? ((shred.slot - BigInt(shred.parentOffset)) as Slot) : null;
    if (!slot.isClosed) this.#emitSlot(shred.slot, parent, 'firstShredReceived');
    return slot;
  }

  #emitSlot(slot: Slot, parent: Slot | null, status: 'firstShredReceived' | 'completed'): void {
    this.#listener.onSlot({ slot, parent, status, at: BigInt(Date.now()) });
  }

  /** Slots that are not plausible any more are forgotten; of the others only so many may be open. */
  #evictSlots(): void {
    for (const [slot, shreds] of this.#slots) {
      if (this.#window.faultOf(slot) === null) continue;
      this.#giveUp(shreds);
      this.#slots.delete(slot);
    }
    while (this.#openSlots > this.#limits.slotsMax) this.#giveUp(this.#mostDispensable());
  }

  /**
   * Of the leader that has most open slots, the slot farthest from the newest plausible one: whoever signs shreds of
   * many slots before their time does so at its own cost.
   */
  #mostDispensable(): SlotShreds {
    const open = [...this.#slots.values()].filter(({ isClosed }) => !isClosed);
    const leaders = Map.groupBy(open, ({ leader }) => bytesKey(leader));
    const most = [...leaders.values()].reduce((a, b) => (b.length > a.length ? b : a));
    const newest = this.#window.newest ?? 0n;
    const distanceOf = ({ slot }: SlotShreds): bigint => (slot > newest ? slot - newest : newest - slot);
    return most.reduce((far, one) => (distanceOf(one) > distanceOf(far) ? one : far));
  }

  #giveUp(slot: SlotShreds): void {
    if (slot.isClosed) return;
    this.#stats.slotsGivenUp++;
    this.#close(slot);
  }

  #close(slot: SlotShreds): void {
    this.#bytes -= slot.bytes;
    this.#openSlots--;
    slot.close();
  }

  #startSet(slot: SlotShreds, shred: Shred, root: Uint8Array | null): FecSet | undefined {
    if (slot.setCount >= this.#limits.fecSetsPerSlotMax) return undefined;
    return slot.addSet(shred, root);
  }

  #accept(slot: SlotShreds, set: FecSet, shred: Shred): void {
    this.#stats.accepted++;
    this.#window.recordShred();
    const before = slot.bytes;
    const batches = slot.add(shred, set);
    this.#bytes += slot.bytes - before;
    for (const batch of batches) if (!slot.wasEmittedEarly(batch)) this.#emitBatch(slot.slot, batch);
    this.#emitEarlyBatch(slot);
    this.#enforceBytesMax();
  }

  /** A batch may have all its entries before it has all its shreds: the rest is empty then, and need not be awaited. */
  #emitEarlyBatch(slot: SlotShreds): void {
    const batch = slot.takeOpenBatch();
    if (batch === null) return;
    const { kind, length } = measureEntries(batch.payload);
    if (kind !== 'entries') return;
    slot.emittedEarly(batch);
    this.#emitEntries(slot.slot, batch, length);
  }

  #emitBatch(slot: Slot, batch: CompleteBatch): void {
    const { kind, length } = measureEntries(batch.payload);
    if (kind === 'marker') this.#stats.markers++;
    else if (kind === 'malformed') this.#stats.malformedBatches++;
    else this.#emitEntries(slot, batch, length);
  }

  #emitEntries(slot: Slot, { first, last, payload }: CompleteBatch, length: number): void {
    this.#stats.batches++;
    const entries = payload.subarray(0, length);
    const indexes = { firstShredIndex: first, endShredIndex: last + 1 };
    this.#listener.onBatch({ slot, entries, ...indexes, at: BigInt(Date.now()) });
  }

  #enforceBytesMax(): void {
    while (this.#bytes > this.#limits.bytesMax) {
      const slots = [...this.#slots.values()];
      this.#giveUp(slots.reduce((most, one) => (one.bytes > most.bytes ? one : most)));
    }
  }

  #recover(slot: SlotShreds, set: FecSet): void {
    const before = set.bytes;
    const recovered = set.recover();
    slot.bytes += set.bytes - before;
    this.#bytes += set.bytes - before;
    if (recovered === null) {
      this.#stats.unrecoverableSets++;
      return;
    }
    this.#stats.recoveredSets++;
    for (const bytes of recovered) this.#drop(this.#takeRecovered(slot, set, bytes));
  }

  /** A recovered shred is the leader's; that it is one, and belongs where it was found, is not said yet. */
  #takeRecovered(slot: SlotShreds, set: FecSet, bytes: Uint8Array): DropReason | null {
    const shred = parseShred(bytes);
    if (typeof shred === 'string') return shred;
    const { layout } = shred;
    const signed = shred.bytes.subarray(SIGNATURE_BYTES);
    if (layout.isLegacy && !this.#verifier.isSigned(shred, signed, slot.leader)) return 'forged';
    const isOfSet = shred.slot === slot.slot && slot.setOf(shred) === set;
    if (!isOfSet || slot.isClosed || slot.has(shred) || slot.contradicts(shred)) return 'inconsistent';
    this.#stats.recoveredShreds++;
    this.#accept(slot, set, shred);
    return null;
  }

  #closeIfComplete(slot: SlotShreds): void {
    if (slot.isClosed || !slot.isComplete) return;
    this.#stats.slotsCompleted++;
    this.#stats.brokenChains += slot.brokenChains;
    this.#emitSlot(slot.slot, slot.parent, 'completed');
    this.#close(slot);
  }
}
