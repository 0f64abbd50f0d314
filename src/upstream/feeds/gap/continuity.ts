import { MALFORMED, scanObject } from '../../../base/json-scan.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import type { ChainReader } from '../chain-reader.ts';
import type { FeedLimits } from '../limits.ts';
import type { SlotInfo } from '../pubsub-message.ts';

/** What becomes of a live notification: it is passed on, passed on as the last one, or dropped. */
export type NotificationDecision = 'pass' | 'last' | 'drop';

/** A subscription was without a node for a while. Slots are those that connections told of. */
export type Gap = Readonly<{
  /** Where the chain was when the subscription was opened: what lies before it is nobody's. */
  opened: SlotInfo;
  /** The newest that the connection told of before it was lost. */
  from: SlotInfo;
  /** The first that the new connection told of once the subscription stood on it. */
  to: SlotInfo;
  reader: ChainReader;
  limits: FeedLimits;
  signal: AbortSignal;
  /** What the new connection told meanwhile; it is passed on when the gap is filled. */
  buffered: () => readonly Buffer[];
  /** Passes on what was missed. */
  emit: (result: Buffer, last?: boolean) => void;
}>;

/** What one kind of subscription does so that nothing is missed and nothing told twice across connections. */
export interface Continuity {
  /** Judges what a connection tells and remembers what it lets through. */
  decide(result: Buffer): NotificationDecision;
  /**
   * Tells what was missed, in order. May be called again for the same gap, or a longer one, after it failed.
   * @throws GapTooLong; whatever the reader throws.
   */
  fill(gap: Gap): Promise<void>;
}

/** The gap has more slots than are read again. */
export class GapTooLong extends Error {
  override readonly name = 'GapTooLong';
}

/** The slots that a gap is looked for in, both included. */
export type SlotWindow = Readonly<{ from: Slot; to: Slot }>;

const max = <T extends bigint>(a: T, b: T): T => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** The newer of two slots of which either may be unknown. */
export const newer = (a: Slot | null, b: Slot | null): Slot | null =>
  a === null || b === null ? (a ?? b) : max(a, b);

/**
 * Slots that finality may be behind a node's own root: that is rooted once most of the stake has it as its root.
 * Source: Agave runtime/src/commitment.rs, `highest_super_majority_root`.
 */
const ROOT_TRAIL = 32n;

/**
 * Where messages may be missing. It begins a little before the newest slot that was told, because what happened
 * there may have reached its commitment, or been on its way, only after that. Where the commitment trails further
 * behind, it begins at the newest slot of which the subscription was told; what a node has rooted it has confirmed
 * and told before.
 * @param told - the newest slot of which a connection told the subscription; null for none since it was opened.
 * @throws GapTooLong
 */
export function gapWindow(
  { opened, from, to, limits }: Gap,
  commitment: Commitment,
  newestEmitted: Slot | null,
): SlotWindow {
  const finalized = commitment === 'finalized';
  const margin = BigInt(limits.gapMarginSlots);
  const most = BigInt(limits.gapBlocksMax);
  const startOf = (info: SlotInfo): bigint => (finalized ? info.root : info.slot) - margin;
  const end = finalized ? to.root : to.slot;
  const start = max(max(startOf(opened), startOf(from)), 0n);
  if (end - start > most) throw new GapTooLong();
  if (commitment === 'processed') return { from: start as Slot, to: end };
  const surelyEmitted = from.root - margin - (finalized ? ROOT_TRAIL : 0n);
  const firstMissing = max(max(newestEmitted ?? startOf(opened), surelyEmitted), max(end - most, 0n));
  return { from: min(start, firstMissing) as Slot, to: end };
}

/** Deeper than any notification nests. */
const DEPTH_MAX = 256;

/** Parts of a JSON object by the names of its members, as views of its bytes. */
type RawMembers = ReadonlyMap<string, Buffer>;

function noteMember(
  target: { bytes: Buffer; members: Map<string, Buffer> },
  nameStart: number,
  nameEnd: number,
  from: number,
  to: number,
): void {
  target.members.set(target.bytes.toString('latin1', nameStart, nameEnd), target.bytes.subarray(from, to));
}

/** The members of the object that the bytes consist of; empty when they are something else. */
export function rawMembers(bytes: Buffer): RawMembers {
  const members = new Map<string, Buffer>();
  const end = scanObject(bytes, 0, DEPTH_MAX, { bytes, members }, noteMember);
  return end === MALFORMED ? new Map() : members;
}

/** `value` of a notification's result, raw. */
export const contextValue = (result: Buffer): Buffer =>
  rawMembers(result).get('value') ?? Buffer.from('null');

/** A result as PubSub writes it: its context has no more than the slot. */
export const withContext = (slot: Slot, value: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from(`{"context":{"slot":${slot}},"value":`), Buffer.from(value), Buffer.from('}')]);

/** Remembers what was told, by name, with the slot it was told of; forgets the oldest beyond a number. */
export class SeenSlots {
  readonly #slots = new Map<string, Slot>();
  readonly #max: number;
  #evictedUpTo: Slot = slotOf(-1n);

  /** @param max - names that are remembered. */
  constructor(max: number) {
    this.#max = max;
  }

  /** The newest slot of which something was forgotten; -1 while nothing was. */
  get evictedUpTo(): Slot {
    return this.#evictedUpTo;
  }

  has(name: string): boolean {
    return this.#slots.has(name);
  }

  /** The slot it was told of last; undefined when it was not, or that is forgotten. */
  get(name: string): Slot | undefined {
    return this.#slots.get(name);
  }

  add(name: string, slot: Slot): void {
    this.#slots.delete(name);
    this.#slots.set(name, slot);
    if (this.#slots.size > this.#max) this.#evictOldest();
  }

  #evictOldest(): void {
    for (const [name, slot] of this.#slots) {
      this.#slots.delete(name);
      if (slot > this.#evictedUpTo) this.#evictedUpTo = slot;
      return;
    }
  }
}
