import { bytesKey } from '../../base/text/bytes-key.ts';
import { measureEntries } from '../../solana/entries.ts';
import { parseShred, type Shred, slotOf, versionOf } from '../../solana/shred/parse-shred.ts';
import { DATA_HEADERS_BYTES, SIGNATURE_BYTES } from '../../solana/shred/shred-layout.ts';
import type { Slot } from '../../solana/units.ts';
import type { DeshredListener } from '../../streams/deshred/deshred-event.ts';
import { type DeshredStats, type DropReason, noStats } from './deshred-stats.ts';
import type { FecSet } from './fec-set.ts';
import { ShredVerifier } from './shred-verifier.ts';
import { type DeshredLimits, deshredLimits } from './shreds-config.ts';
import { type CompleteBatch, SlotShreds } from './slot-shreds.ts';
import { SlotWindow } from './slot-window.ts';

const OVERHEAD_BYTES = 200;

class PendingPackets {
  readonly #bytesMax: number;
  #packets: { slot: Slot; packet: Uint8Array }[] = [];
  #first = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#packets.length - this.#first;
  }

  /** Evicts the oldest packets beyond the limit. @returns the number of evicted packets. */
  add(slot: Slot, packet: Uint8Array): number {
    this.#packets.push({ slot, packet: new Uint8Array(packet) });
    this.#bytes += packet.length + OVERHEAD_BYTES;
    let evicted = 0;
    for (; this.#bytes > this.#bytesMax && this.size > 0; evicted++) {
      this.#bytes -= (this.#packets[this.#first]?.packet.length ?? 0) + OVERHEAD_BYTES;
      this.#first++;
    }
    if (this.#first * 2 > this.#packets.length) {
      this.#packets = this.#packets.slice(this.#first);
      this.#first = 0;
    }
    return evicted;
  }

  takeKnown(isKnown: (slot: Slot) => boolean): Uint8Array[] {
    const all = this.#packets.slice(this.#first);
    const slots = new Map<Slot, boolean>();
    for (const { slot } of all) if (!slots.has(slot)) slots.set(slot, isKnown(slot));
    const taken = all.filter(({ slot }) => slots.get(slot) === true);
    this.#packets = all.filter(({ slot }) => slots.get(slot) !== true);
    this.#first = 0;
    this.#bytes -= taken.reduce((sum, { packet }) => sum + packet.length + OVERHEAD_BYTES, 0);
    return taken.map(({ packet }) => packet);
  }
}

export type DeshredderOptions = Readonly<{
  /** The cluster's shred version; null accepts all versions. */
  shredVersion: () => number | null;
  /** The leader's public key (32 bytes); null if unknown. */
  leaderOf: (slot: Slot) => Uint8Array | null;
  /** The newest slot from another source; null while unknown. */
  newestSlot?: () => Slot | null;
  /** What happens to packets with an unknown leader: `hold` until `releasePending`, or `drop`. */
  unknownLeader: 'hold' | 'drop';
  limits?: Partial<DeshredLimits>;
}>;

const VERIFY_INTERVAL_MS = 5;
const VERIFY_BATCH = 16;

/**
 * Turns the shreds of each slot (SlotShreds) into batches of entries, from which solana/entries.ts reads transactions.
 * Shreds without the leader's signature affect only the statistics: they never occupy an index or memory of a slot.
 * Sources: agave ledger, `blockstore.rs`; jito shredstream-proxy, `deshred.rs`.
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
  #bytes = 0;
  #openSlots = 0;
  #hasNewSlot = false;
  #verifyTimer: NodeJS.Timeout | null = null;

  constructor(options: DeshredderOptions, listener: Pick<DeshredListener, 'onBatch' | 'onSlot'>) {
    this.#options = options;
    this.#limits = { ...deshredLimits, ...options.limits };
    this.#listener = listener;
    const { newestSlot = () => null } = options;
    this.#window = new SlotWindow({ limits: this.#limits, newestSlot });
    this.#pending = new PendingPackets(this.#limits.pendingBytesMax);
    this.#verifier = new ShredVerifier(this.#limits);
  }

  get stats(): Readonly<DeshredStats> {
    this.#stats.signatures = this.#verifier.signatures;
    return this.#stats;
  }

  get usage() {
    return {
      bytes: this.#bytes,
      pendingBytes: this.#pending.bytes,
      unverifiedBytes: this.#verifier.unverifiedBytes,
      openSlots: this.#openSlots,
      slots: this.#slots.size,
    };
  }

  /** Never throws, and never retains the packet. Calls the listener synchronously, or later during a flood. */
  push(packet: Uint8Array): void {
    this.#stats.packets++;
    this.#drop(this.#processPacket(packet, this.#options.unknownLeader === 'hold'));
    this.#releaseOnNewSlot();
  }

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

  /** Processes pending packets whose leader is now known. Also runs on each new slot. */
  releasePending(): void {
    const isKnown = (slot: Slot): boolean => this.#options.leaderOf(slot) !== null;
    for (const packet of this.#pending.takeKnown(isKnown)) this.#drop(this.#processPacket(packet, false));
  }

  #drop(reason: DropReason | null): void {
    if (reason !== null) this.#stats.drops[reason]++;
  }

  #processPacket(packet: Uint8Array, mayBuffer: boolean): DropReason | null {
    const rejection = this.#rejectionOf(packet);
    if (rejection !== null) return rejection;
    const shred = parseShred(packet);
    if (typeof shred === 'string') return shred;
    const tracked = this.#slots.get(shred.slot);
    if (tracked?.has(shred) === true) return 'duplicate';
    if (shred.index >= this.#limits.shredsPerSlotMax) return 'slotFull';
    const leader = tracked?.leader ?? this.#options.leaderOf(shred.slot);
    if (leader !== null) return this.#verify(shred, leader, tracked);
    if (!mayBuffer) return 'unknownLeader';
    this.#buffer(shred.slot, packet);
    return null;
  }

  /** Returns the reason to drop a packet, without parsing the packet; null if it may be valid. */
  #rejectionOf(packet: Uint8Array): DropReason | null {
    if (packet.length < DATA_HEADERS_BYTES) return 'Length';
    const version = this.#options.shredVersion();
    if (version !== null && version !== versionOf(packet)) return 'version';
    const slot = slotOf(packet);
    return this.#window.faultOf(slot) ?? (this.#slots.get(slot)?.isClosed === true ? 'slotClosed' : null);
  }

  #buffer(slot: Slot, packet: Uint8Array): void {
    this.#stats.pending++;
    this.#stats.drops.unknownLeader += this.#pending.add(slot, packet);
  }

  #verify(shred: Shred, leader: Uint8Array, tracked: SlotShreds | undefined): DropReason | null {
    const decision = this.#verifier.check(shred, leader, tracked?.setOf(shred));
    if (decision.kind === 'deferred') {
      this.#stats.drops.unverified += decision.evicted;
      this.#scheduleVerification();
      return null;
    }
    const { kind, waiting } = decision;
    if (kind !== 'sibling' && kind !== 'first') {
      this.#stats.drops[kind] += waiting.length;
      return kind;
    }
    const reason = this.#insert(shred, leader, tracked, kind === 'first' ? decision : null);
    for (const packet of waiting) this.#drop(this.#processPacket(packet, false));
    return reason;
  }

  #scheduleVerification(): void {
    this.#verifyTimer ??= setTimeout(() => {
      this.#verifyTimer = null;
      this.#verifyWaiting();
    }, VERIFY_INTERVAL_MS).unref();
  }

  /** Verifies a limited number of packets per run, so that other work is not blocked. */
  #verifyWaiting(): void {
    for (let count = 0; count < VERIFY_BATCH; count++) {
      const packet = this.#verifier.takeWaiting();
      if (packet === null) break;
      this.#drop(this.#processPacket(packet, false));
    }
    this.#releaseOnNewSlot();
    if (this.#verifier.unverifiedBytes > 0) this.#scheduleVerification();
  }

  /** `first`: non-null for the first shred of an FEC set. */
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

  #evictSlots(): void {
    for (const [slot, shreds] of this.#slots) {
      if (this.#window.faultOf(slot) === null) continue;
      this.#giveUp(shreds);
      this.#slots.delete(slot);
    }
    while (this.#openSlots > this.#limits.slotsMax) this.#giveUp(this.#slotToEvict());
  }

  /** The farthest slot of the leader with the most open slots: a leader's far-future slots displace only its own. */
  #slotToEvict(): SlotShreds {
    const open = [...this.#slots.values()].filter(({ isClosed }) => !isClosed);
    const leaders = Map.groupBy(open, ({ leader }) => bytesKey(leader));
    const largest = [...leaders.values()].reduce((a, b) => (b.length > a.length ? b : a));
    const newest = this.#window.newest ?? 0n;
    const distanceOf = ({ slot }: SlotShreds): bigint => (slot > newest ? slot - newest : newest - slot);
    return largest.reduce((far, one) => (distanceOf(one) > distanceOf(far) ? one : far));
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

  /** Emits an incomplete batch early if its entries are complete: the missing shreds are then only padding. */
  #emitEarlyBatch(slot: SlotShreds): void {
    const batch = slot.takeOpenBatch();
    if (batch === null) return;
    const { kind, length } = measureEntries(batch.payload);
    if (kind !== 'entries') return;
    slot.markEmittedEarly(batch);
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

  /** A recovered shred is covered by the signature, but may be malformed or in the wrong set. */
  #takeRecovered(slot: SlotShreds, set: FecSet, bytes: Uint8Array): DropReason | null {
    const shred = parseShred(bytes);
    if (typeof shred === 'string') return shred;
    const { layout } = shred;
    const signed = shred.bytes.subarray(SIGNATURE_BYTES);
    if (layout.isLegacy && !this.#verifier.isSigned(shred, signed, slot.leader)) return 'invalidSignature';
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
