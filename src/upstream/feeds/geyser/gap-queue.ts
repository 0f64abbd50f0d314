import type { Slot } from '../../../solana/units.ts';
import type { QueuedUpdate } from './mint-queue.ts';

type GapQueueOptions = Readonly<{
  gapBufferMax: number;
  /** Number of slots remembered. The queue does not wait for a parent that is older than all of these slots. */
  slotsMax: number;
  emit: (queued: QueuedUpdate) => void;
  onOverflow: () => void;
}>;

/** Holds back updates above a missing slot until the source completes that slot or gives it up. */
export class GapQueue {
  readonly #options: GapQueueOptions;
  readonly #started = new Set<Slot>();
  #oldest: Slot | null = null;
  #missing: Slot | null = null;
  /** The queue no longer waits for slots up to and including this slot. */
  #settledUpTo: Slot | null = null;
  #held: QueuedUpdate[] = [];

  constructor(options: GapQueueOptions) {
    this.#options = options;
  }

  push(queued: QueuedUpdate): void {
    const { update } = queued;
    this.#missing ??= this.#missingParent(queued);
    const missing = this.#missing;
    const isHeld = missing !== null && update.slot > missing;
    if (isHeld) this.#held.push(queued);
    else {
      this.#start(update.slot);
      this.#options.emit(queued);
    }
    if (missing === null) return;
    // The source completes a slot only after its ancestors.
    if (update.kind === 'slot' && update.status === 'processed' && update.slot >= missing) {
      this.#release(missing);
    } else if (this.#held.length > this.#options.gapBufferMax) this.#options.onOverflow();
  }

  clear(): void {
    this.#started.clear();
    this.#oldest = null;
    this.#missing = null;
    this.#settledUpTo = null;
    this.#held = [];
  }

  #missingParent({ update }: QueuedUpdate): Slot | null {
    if (update.kind !== 'slot' || update.status !== 'createdBank') return null;
    const { parent } = update;
    if (parent === null || this.#started.has(parent)) return null;
    if (this.#oldest === null || parent < this.#oldest) return null;
    return this.#settledUpTo !== null && parent <= this.#settledUpTo ? null : parent;
  }

  #start(slot: Slot): void {
    if (this.#started.has(slot)) return;
    this.#started.add(slot);
    if (this.#oldest === null || slot < this.#oldest) this.#oldest = slot;
    if (this.#started.size <= this.#options.slotsMax) return;
    const [first = slot] = this.#started;
    this.#started.delete(first);
    this.#oldest = this.#started.values().next().value ?? slot;
  }

  #release(missing: Slot): void {
    const held = this.#held;
    this.#held = [];
    this.#missing = null;
    this.#settledUpTo = missing;
    for (const queued of held) this.push(queued);
  }
}
