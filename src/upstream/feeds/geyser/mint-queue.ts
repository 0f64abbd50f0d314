import type { AccountUpdate } from '../../../protocol/geyser/update/account.ts';
import type { SlotUpdate } from '../../../protocol/geyser/update/slot.ts';
import type { TransactionUpdate } from '../../../protocol/geyser/update/transaction.ts';
import type { Slot } from '../../../solana/units.ts';

export type FeedUpdate = AccountUpdate | SlotUpdate | TransactionUpdate;

/** An update with the server's time in Unix milliseconds. */
export type QueuedUpdate = Readonly<{ update: FeedUpdate; at: bigint }>;

type MintQueueOptions = Readonly<{
  /** Maximum queued updates; above it, they are emitted without waiting. */
  queueMax: number;
  emit: (queued: QueuedUpdate) => void;
  /** What must be fetched before the update is emitted; null for nothing. Never rejects. */
  prefetch: (queued: QueuedUpdate) => Promise<void> | null;
}>;

/** Emits updates in order, and waits where a mint must be fetched first. */
export class MintQueue {
  readonly #options: MintQueueOptions;
  #queue: QueuedUpdate[] = [];
  #fetch: object | null = null;

  constructor(options: MintQueueOptions) {
    this.#options = options;
  }

  push(queued: QueuedUpdate): void {
    this.#queue.push(queued);
    if (this.#queue.length > this.#options.queueMax) {
      this.#fetch = null;
      const queue = this.#queue;
      this.#queue = [];
      for (const queued of queue) this.#options.emit(queued);
    } else if (this.#fetch === null) this.#drain();
  }

  clear(): void {
    this.#queue = [];
    this.#fetch = null;
  }

  #drain(): void {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const fetched = this.#options.prefetch(next);
      if (fetched !== null) {
        const fetch = {};
        this.#fetch = fetch;
        void fetched.then(() => {
          if (this.#fetch !== fetch) return;
          this.#fetch = null;
          const next = this.#queue.shift();
          if (next !== undefined) this.#options.emit(next);
          this.#drain();
        });
        return;
      }
      this.#queue.shift();
      this.#options.emit(next);
    }
  }
}

type GapQueueOptions = Readonly<{
  /** Maximum held updates; above it, `onOverflow` is called. */
  heldMax: number;
  /** Maximum remembered slots; a parent older than these is not awaited. */
  slotsMax: number;
  emit: (queued: QueuedUpdate) => void;
  onOverflow: () => void;
}>;

/**
 * Keeps slots in order while the source repairs a gap: holds the updates above a missing slot until the
 * source has completed or given up that slot.
 */
export class GapQueue {
  readonly #options: GapQueueOptions;
  readonly #started = new Set<Slot>();
  #oldest: Slot | null = null;
  #missing: Slot | null = null;
  /** Slots up to this one are not awaited any more. */
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
      const held = this.#held;
      this.#held = [];
      this.#missing = null;
      this.#settledUpTo = missing;
      for (const queued of held) this.push(queued);
    } else if (this.#held.length > this.#options.heldMax) this.#options.onOverflow();
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
}
