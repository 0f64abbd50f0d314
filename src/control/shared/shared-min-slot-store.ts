import type { MinSlot, MinSlotStore, SharedMinSlot } from '../../protocol/min-slot.ts';
import { type Slot, slot } from '../../solana/units.ts';
import type { LimitStore } from './limit-store.ts';

export type SharedMinSlotStoreOptions = Readonly<{
  /** Started and stopped by whoever shares limits over it. */
  store: LimitStore;
  /** What the names of floors begin with. */
  prefix: string;
  /** How long one is kept that nobody tells of. */
  retentionMs: number;
}>;

/** How long nobody is asked once they did not answer: reads are not held up by it, each for itself. */
const PAUSE_MS = 1_000;
/** Floors of one exchange. */
const MIN_SLOTS_MAX = 500;

/** A floor whose others are to be met. */
type SlotSyncRequest = Readonly<{
  name: string;
  minSlot: MinSlot;
  /** @param told - the highest marks of all; null: nobody could be met. */
  done: (marks: readonly Slot[] | null) => void;
}>;

/** The floors of sessions that several processes answer. What is wanted in one turn of the loop goes in one exchange. */
export class SharedMinSlotStore implements MinSlotStore {
  readonly #options: SharedMinSlotStoreOptions;
  #requests: SlotSyncRequest[] = [];
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: SharedMinSlotStoreOptions) {
    this.#options = options;
  }

  minSlotFor(name: string): SharedMinSlot {
    return new StoredMinSlot(this, `${this.#options.prefix}${name}`);
  }

  /** @param done - called once. Must not throw. */
  sync(request: SlotSyncRequest): void {
    if (this.#options.store.problem !== null || performance.now() < this.#pausedUntil) {
      request.done(null);
      return;
    }
    this.#requests.push(request);
    if (this.#requests.length === 1) setImmediate(() => this.#syncAll());
  }

  #syncAll(): void {
    const all = this.#requests;
    this.#requests = [];
    for (let at = 0; at < all.length; at += MIN_SLOTS_MAX)
      void this.#syncBatch(all.slice(at, at + MIN_SLOTS_MAX));
  }

  async #syncBatch(requests: readonly SlotSyncRequest[]): Promise<void> {
    const { store, retentionMs } = this.#options;
    const keys = requests.map(({ name }) => name);
    const values = [retentionMs, ...requests.flatMap(({ minSlot }) => minSlot.slots.map(String))];
    let highestMarks: readonly (readonly Slot[])[] = [];
    try {
      const [answer] = await store.execute([{ name: 'floors', keys, values }]);
      highestMarks = (answer as string[][]).map((marks) => marks.map((mark) => slot(BigInt(mark))));
    } catch {
      // Said by whoever shares limits over it.
      this.#pausedUntil = performance.now() + PAUSE_MS;
    }
    requests.forEach(({ done }, at) => {
      done(highestMarks[at] ?? null);
    });
  }
}

/** One floor, as this process knows that the others have it. */
class StoredMinSlot implements SharedMinSlot {
  readonly #minSlots: SharedMinSlotStore;
  readonly #name: string;
  /** What all of them were told, as it was heard last. */
  #syncedMarks = '';

  constructor(minSlots: SharedMinSlotStore, name: string) {
    this.#minSlots = minSlots;
    this.#name = name;
  }

  isAhead(minSlot: MinSlot): boolean {
    return minSlot.slots.join() !== this.#syncedMarks;
  }

  sync(minSlot: MinSlot, onSynced: () => void): void {
    const done = (marks: readonly Slot[] | null): void => {
      if (marks !== null) {
        minSlot.merge(marks);
        this.#syncedMarks = marks.join();
      }
      onSynced();
    };
    this.#minSlots.sync({ name: this.#name, minSlot, done });
  }
}
