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
  /** Notifications from the new connection, to be emitted once the gap is filled. */
  buffered: () => readonly Buffer[];
  emit: (result: Buffer, isLast?: boolean) => void;
}>;

/** Recovers missed notifications for one kind of subscription, and drops duplicates across connections. */
export interface GapRecovery {
  decide(result: Buffer): NotificationDecision;
  /**
   * Emits missed notifications in order. Called after a failover, and again if the fill or the new connection fails,
   * possibly with a longer gap. @throws GapTooLong
   */
  fill(gap: Gap): Promise<void>;
}

export class GapTooLong extends Error {
  override readonly name = 'GapTooLong';
}

/** `from` and `to` are inclusive. */
type SlotWindow = Readonly<{ from: Slot; to: Slot }>;

const max = <T extends bigint>(a: T, b: T): T => (a > b ? a : b);

/** Number of slots by which cluster finality may trail a node's root. Source: Agave, `highest_super_majority_root`. */
const ROOT_TRAIL = 32n;

/**
 * The slots whose notifications may be missing. The window starts `gapMarginSlots` before the last position, since the
 * last slots may have had pending notifications. As `confirmed` and `finalized` lag, their window may start earlier, at
 * `newestEmitted`, but not far below the root: notifications for older slots were sent before the gap.
 * @throws GapTooLong
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

/** In results from Agave, the address or signature starts within this many bytes. */
const HEAD_BYTES = 80;
const QUOTE = 0x22;

/** The returned function reads the string member `name` of a result's `value`; it returns null if there is none. */
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

/** Formats a PubSub result whose context contains only the slot. */
export const withContext = (slot: Slot, value: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from(`{"context":{"slot":${slot}},"value":`), Buffer.from(value), Buffer.from('}')]);

/** The last slot emitted for each name, such as an address or signature. Evicts the least recently emitted name. */
export class SeenSlots {
  readonly #slots = new Map<string, Slot>();
  readonly #max: number;
  /** The newest slot among the evicted names; -1 if none was evicted. */
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
