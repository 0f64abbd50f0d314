import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { Slot } from '../../solana/units.ts';

/** What one stream wants, for as long as it wants it. */
export interface FilterSet {
  /** Kept when what is told holds all that is wanted, from `fromSlot` on where that was named. Never rejects. */
  readonly ready: Promise<void>;
  /** Harmless when it is over. */
  end(): void;
}

/** Whoever tells the updates of a ledger, and may tell no more than somebody wants. */
export interface GeyserSource {
  /**
   * @param fromSlot - slots from it on, which may have been told without what is wanted now, are told again as far as
   * that is possible; what was told before is not told twice.
   * @param before - ends when this one is there: what it alone names takes no room from what is wanted in its place.
   * @throws Failure FILTER_LIMIT, OVERLOADED when it names more than the source can tell.
   */
  subscribe(request: SubscribeRequest, fromSlot: Slot | null, previous?: FilterSet | null): FilterSet;
}

/** A source that tells everything, asked or not. */
export const unfilteredSource: GeyserSource = {
  subscribe: () => ({ ready: Promise.resolve(), end: () => {} }),
};

/**
 * Why what was told counts no more. `source`: another source tells from now on, which goes on from nothing that was told,
 * and may tell it otherwise. `chain`: what comes may lie far behind what was told, or be of another chain.
 */
export type ResetReason = 'source' | 'chain';

/** Whoever hears a source. */
export interface GeyserListener {
  /** In the order of `RawUpdate`. */
  onUpdate(update: RawUpdate): void;
  /**
   * Updates of these slots, both included, are missing and cannot be told any more.
   * @param kinds - what is missing; all of a slot where `slot` is among them: it is never `processed` then.
   */
  onLost(from: Slot, to: Slot, kinds: ReadonlySet<RawUpdate['kind']>): void;
  /** What was told until now counts no more. */
  onReset(reason: ResetReason): void;
}
