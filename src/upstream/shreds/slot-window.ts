import type { Slot } from '../../solana/units.ts';
import type { DeshredLimits } from './shreds-config.ts';

/** Slots that say together which one is plausible: most of them would have to be led astray. */
const RECENT_SLOTS = 33;

type SlotWindowOptions = Readonly<{
  limits: Pick<DeshredLimits, 'slotsAheadMax' | 'slotsBehindMax' | 'staleMs'>;
  /** The newest slot that somebody else knows of, such as the nodes that are polled; null while nobody does. */
  newestSlot: () => Slot | null;
}>;

/**
 * Which slots are plausible: those around the newest slot that is known from elsewhere, or else around the median of
 * the slots that verified shreds began lately. A leader may sign shreds of its slots of a far future: the maximum
 * would follow it there and leave the present behind.
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

  /** The slot that others are measured by; null while none is known. */
  get newest(): Slot | null {
    return this.#options.newestSlot() ?? this.#median;
  }

  /** @returns null when the slot is plausible. */
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

  /** A shred was verified. */
  recordShred(): void {
    this.#lastShredAt = performance.now();
  }

  /** The first shred of a slot was verified. */
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

  /** Only what the shreds said themselves can be. */
  #isStale(): boolean {
    if (this.#options.newestSlot() !== null || this.#median === null) return false;
    return performance.now() - this.#lastShredAt > this.#options.limits.staleMs;
  }
}
