import { chunk } from '../../base/chunk.ts';
import type { MinSlot, MinSlotStore, SharedMinSlot } from '../../protocol/min-slot.ts';
import { type Slot, slot } from '../../solana/units.ts';
import type { LimitStore } from './limit-store.ts';

type SharedMinSlotStoreOptions = Readonly<{
  /** Started and stopped by `SharedLimits`. */
  store: LimitStore;
  prefix: string;
  /** How long a session is retained after its last update. */
  retentionMs: number;
}>;

/** How long syncs are skipped after a failed sync, so that later reads do not wait for the same timeout. */
const PAUSE_MS = 1_000;
const MIN_SLOTS_MAX = 500;

type SlotSyncRequest = Readonly<{
  name: string;
  minSlot: MinSlot;
  /** Called once, with the highest slots across all processes, or null if the store is unreachable. Must not throw. */
  done: (marks: readonly Slot[] | null) => void;
}>;

/** Syncs minimum slots with the limit store. Requests in the same event loop iteration share round trips. */
export class SharedMinSlotStore implements MinSlotStore {
  readonly #options: SharedMinSlotStoreOptions;
  #requests: SlotSyncRequest[] = [];
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: SharedMinSlotStoreOptions) {
    this.#options = options;
  }

  sharedMinSlotFor(name: string): SharedMinSlot {
    const key = `${this.#options.prefix}${name}`;
    let syncedMarks = '';
    return {
      isAhead: (minSlot) => minSlot.toArray().join() !== syncedMarks,
      sync: (minSlot, onSynced) => {
        const done = (marks: readonly Slot[] | null): void => {
          if (marks !== null) {
            minSlot.merge(marks);
            syncedMarks = marks.join();
          }
          onSynced();
        };
        this.sync({ name: key, minSlot, done });
      },
    };
  }

  sync(request: SlotSyncRequest): void {
    if (this.#options.store.problem !== null || performance.now() < this.#pausedUntil) {
      request.done(null);
      return;
    }
    this.#requests.push(request);
    if (this.#requests.length === 1) setImmediate(() => this.#syncAll());
  }

  #syncAll(): void {
    const batches = chunk(this.#requests, MIN_SLOTS_MAX);
    this.#requests = [];
    for (const batch of batches) void this.#syncBatch(batch);
  }

  async #syncBatch(requests: readonly SlotSyncRequest[]): Promise<void> {
    const { store, retentionMs } = this.#options;
    const keys = requests.map(({ name }) => name);
    const values = [retentionMs, ...requests.flatMap(({ minSlot }) => minSlot.toArray().map(String))];
    let highestMarks: readonly (readonly Slot[])[] = [];
    try {
      const [reply] = await store.execute([{ name: 'min-slots', keys, values }]);
      highestMarks = (reply as string[][]).map((marks) => marks.map((mark) => slot(BigInt(mark))));
    } catch {
      // `SharedLimits` reports the failure.
      this.#pausedUntil = performance.now() + PAUSE_MS;
    }
    requests.forEach(({ done }, at) => {
      done(highestMarks[at] ?? null);
    });
  }
}
