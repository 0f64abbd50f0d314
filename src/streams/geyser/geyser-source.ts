import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { Slot } from '../../solana/units.ts';

export interface FilterSet {
  /** Resolves once updates cover the request, from `fromSlot` on if given. Never rejects. */
  readonly ready: Promise<void>;
  /** Idempotent. */
  end(): void;
}

/** Source of updates. It emits at least those that filter sets request. */
export interface GeyserSource {
  /**
   * @param fromSlot - first slot to replay, as far as possible, where updates of this request may not have been
   * emitted. Updates that were emitted are not repeated.
   * @param previous - filter set that the caller ends next; names that only it uses do not count against the limit.
   * @throws Failure FILTER_LIMIT or OVERLOADED if the request names more than the source supports.
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
  /** Updates of slots `from` to `to`, inclusive, are lost. With kind `slot`, these slots never become `processed`. */
  onLost(from: Slot, to: Slot, kinds: ReadonlySet<RawUpdate['kind']>): void;
  /** All earlier updates are void. */
  onReset(reason: ResetReason): void;
}
