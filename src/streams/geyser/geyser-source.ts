import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { Slot } from '../../solana/units.ts';

export interface FilterSet {
  /** Resolves once updates cover the request, from `fromSlot` on if it is not null. Never rejects. */
  readonly ready: Promise<void>;
  /** Idempotent. */
  end(): void;
}

/** Emits at least the updates that the filter sets request. */
export interface GeyserSource {
  /**
   * @param fromSlot - first slot of the replay, which emits the available updates that earlier requests may not have
   * covered. Updates that have been emitted are not repeated.
   * @param previous - filter set that the caller ends next; accounts that only it names do not count toward the limit.
   * @throws Failure FILTER_LIMIT or OVERLOADED if the request names more accounts than the source supports.
   */
  subscribe(request: SubscribeRequest, fromSlot: Slot | null, previous?: FilterSet | null): FilterSet;
}

export const unfilteredSource: GeyserSource = {
  subscribe: () => ({ ready: Promise.resolve(), end: () => {} }),
};

/** `source`: updates may repeat or contradict earlier updates. `chain`: slots may decrease or be from another chain. */
export type ResetReason = 'source' | 'chain';

export interface GeyserListener {
  onUpdate(update: RawUpdate): void;
  /** Updates of slots `from` to `to` (inclusive) are lost. If `kinds` has `slot`, these slots are never `processed`. */
  onLost(from: Slot, to: Slot, kinds: ReadonlySet<RawUpdate['kind']>): void;
  /** All earlier updates are void. */
  onReset(reason: ResetReason): void;
}
