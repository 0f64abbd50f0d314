import type { Commitment } from '../../../protocol/commitment.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { memberOf } from '../../slots/context-slot.ts';
import type { ChainReader } from '../chain-reader.ts';
import type { FeedLimits } from '../limits.ts';
import type { SlotInfo } from '../pubsub-message.ts';

export type NotificationDecision = 'pass' | 'last' | 'drop';

export type Gap = Readonly<{
  /** Chain position when the subscription was opened. */
  opened: SlotInfo;
  /** Last position of the previous connection. */
  from: SlotInfo;
  to: SlotInfo;
  reader: ChainReader;
  limits: FeedLimits;
  signal: AbortSignal;
  /** Notifications of the new connection, which follow the gap fill. */
  buffered: () => readonly Buffer[];
  emit: (result: Buffer, isLast?: boolean) => void;
}>;

/** Recovers missed notifications of one subscription kind and drops duplicates across connections. */
export interface GapRecovery {
  decide(result: Buffer): NotificationDecision;
  /**
   * Emits what was missed, in order. `ContinuousSubscription` calls it after a failover, and again for a longer gap.
   * @throws GapTooLong
   */
  fill(gap: Gap): Promise<void>;
}

export class GapTooLong extends Error {
  override readonly name = 'GapTooLong';
}

/** Both ends included. */
type SlotWindow = Readonly<{ from: Slot; to: Slot }>;

const max = <T extends bigint>(a: T, b: T): T => (a > b ? a : b);

/** How far cluster finality may trail a root. Source: Agave, `highest_super_majority_root`. */
const ROOT_TRAIL = 32n;

/**
 * The slots in which notifications may be missing: from a margin before the newest emitted slot, where some
 * may have been pending. For lagging commitments, from `newestEmitted`, the newest slot of an emitted
 * notification, since a node has emitted everything up to its root. @throws GapTooLong
 */
export function gapWindow(
  { opened, from, to, limits }: Gap,
  commitment: Commitment,
  newestEmitted: Slot | null,
): SlotWindow {
  const finalized = commitment === 'finalized';
  const margin = BigInt(limits.gapMarginSlots);
  const maxSlots = BigInt(limits.gapBlocksMax);
  const startOf = (info: SlotInfo): bigint => (finalized ? info.root : info.slot) - margin;
  const end = finalized ? to.root : to.slot;
  const start = max(max(startOf(opened), startOf(from)), 0n);
  if (end - start > maxSlots) throw new GapTooLong();
  if (commitment === 'processed') return { from: start as Slot, to: end };
  const emittedForCertain = from.root - margin - (finalized ? ROOT_TRAIL : 0n);
  const firstMissing = max(max(newestEmitted ?? startOf(opened), emittedForCertain), max(end - maxSlots, 0n));
  return { from: (start < firstMissing ? start : firstMissing) as Slot, to: end };
}

export const contextValue = (result: Buffer): Buffer => memberOf(result, 'value') ?? Buffer.from('null');

/** Agave writes an address or signature within this many bytes. */
const HEAD_BYTES = 80;
const QUOTE = 0x22;

/** Null if `value` has no such string. */
export function valueString(name: string): (result: Buffer) => string | null {
  const prefix = Buffer.from(`"value":{"${name}":"`);
  return (result) => {
    const at = result.subarray(0, HEAD_BYTES).indexOf(prefix);
    if (at < 0) return memberOf(contextValue(result), name)?.toString('latin1').slice(1, -1) ?? null;
    const start = at + prefix.length;
    const end = result.indexOf(QUOTE, start);
    return end < 0 ? null : result.toString('latin1', start, end);
  };
}

/** A result as PubSub writes it, with only the slot in its context. */
export const withContext = (slot: Slot, value: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from(`{"context":{"slot":${slot}},"value":`), Buffer.from(value), Buffer.from('}')]);

/** The newest slots at which names were emitted; evicts the least recently emitted. */
export class SeenSlots {
  readonly #slots = new Map<string, Slot>();
  readonly #max: number;
  /** The newest slot of an evicted name; -1 for none. */
  evictedUpTo: Slot = slotOf(-1n);

  constructor(max: number) {
    this.#max = max;
  }

  has(name: string): boolean {
    return this.#slots.has(name);
  }

  get(name: string): Slot | undefined {
    return this.#slots.get(name);
  }

  add(name: string, slot: Slot): void {
    this.#slots.delete(name);
    this.#slots.set(name, slot);
    if (this.#slots.size > this.#max) this.#evictOldest();
  }

  #evictOldest(): void {
    const [oldest] = this.#slots;
    if (oldest === undefined) return;
    const [name, slot] = oldest;
    this.#slots.delete(name);
    this.evictedUpTo = max(this.evictedUpTo, slot);
  }
}
