import type { Slot } from '../../solana/units.ts';
import type { DeshredLimits } from './shreds-config.ts';

/** Number of slots that the median covers. */
const RECENT_SLOTS = 33;

type SlotWindowOptions = Readonly<{
  limits: Pick<DeshredLimits, 'slotsAheadMax' | 'slotsBehindMax' | 'staleMs'>;
  /** The newest slot from another source, such as polled nodes; null while unknown. */
  newestSlot: () => Slot | null;
}>;

/**
 * Accepts slots near the newest slot from another source, or near the median of recent slots. Does not use the
 * maximum, because a leader may sign far-future slots.
 */
export class SlotWindow {
  readonly #options: SlotWindowOptions;
  readonly #ahead: bigint;
  readonly #behind: bigint;
  readonly #recentSlots: Slot[] = [];
  #median: Slot | null = null;
  #lastShredAt = 0;

  constructor(options: SlotWindowOptions) {
    this.#options = options;
    this.#ahead = BigInt(options.limits.slotsAheadMax);
    this.#behind = BigInt(options.limits.slotsBehindMax);
  }

  get newest(): Slot | null {
    return this.#options.newestSlot() ?? this.#median;
  }

  /** @returns null if the slot is plausible. */
  faultOf(slot: Slot): 'slotAhead' | 'slotBehind' | null {
    const { newest } = this;
    if (newest === null) return null;
    const distance = slot - newest;
    if (distance <= this.#ahead && -distance <= this.#behind) return null;
    if (this.#isStale()) {
      this.reset();
      return this.faultOf(slot);
    }
    return distance > 0n ? 'slotAhead' : 'slotBehind';
  }

  recordShred(): void {
    this.#lastShredAt = performance.now();
  }

  recordSlot(slot: Slot): void {
    this.#recentSlots.push(slot);
    if (this.#recentSlots.length > RECENT_SLOTS) this.#recentSlots.shift();
    const sorted = this.#recentSlots.toSorted((a, b) => (a < b ? -1 : 1));
    this.#median = sorted[sorted.length >> 1] ?? null;
  }

  reset(): void {
    this.#recentSlots.length = 0;
    this.#median = null;
  }

  #isStale(): boolean {
    if (this.#options.newestSlot() !== null || this.#median === null) return false;
    return performance.now() - this.#lastShredAt > this.#options.limits.staleMs;
  }
}
