import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { Slot } from '../../solana/units.ts';

export interface FilterSet {
  /** Resolves once updates cover the request, from `fromSlot` on if given. Never rejects. */
  readonly ready: Promise<void>;
  /** Idempotent. */
  end(): void;
}

/** Source of updates. It need not emit more than filter sets request. */
export interface GeyserSource {
  /**
   * @param fromSlot - replays slots from it on that may have been emitted without the requested updates, as
   * far as possible; emitted updates are not repeated.
   * @param previous - ends once this set exists: its exclusive names do not count against the limit.
   * @throws Failure FILTER_LIMIT, OVERLOADED when it names more than the source supports.
   */
  subscribe(request: SubscribeRequest, fromSlot: Slot | null, previous?: FilterSet | null): FilterSet;
}

export const unfilteredSource: GeyserSource = {
  subscribe: () => ({ ready: Promise.resolve(), end: () => {} }),
};

/** `source`: updates may be repeated or contradicted. `chain`: slots may go back, or be of another chain. */
export type ResetReason = 'source' | 'chain';

export interface GeyserListener {
  onUpdate(update: RawUpdate): void;
  /** Updates of these slots, both included, are lost; with kind `slot`, they never become `processed`. */
  onLost(from: Slot, to: Slot, kinds: ReadonlySet<RawUpdate['kind']>): void;
  /** All earlier updates are void. */
  onReset(reason: ResetReason): void;
}
