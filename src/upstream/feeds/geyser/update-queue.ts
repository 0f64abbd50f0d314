import type { Update } from '../../../protocol/geyser/subscribe-update.ts';

/** An update, when its server had it (Unix milliseconds), and which node's server that was. */
export type QueuedUpdate = Readonly<{ update: Update; at: bigint; node: string }>;

type UpdateQueueOptions = Readonly<{
  /** Updates that wait; beyond it the stream is held, or given up where that cannot help. */
  queueMax: number;
  emit: (queued: QueuedUpdate) => void;
  /** What must be fetched before an update is told; null for nothing. Never rejects. */
  prefetch: (queued: QueuedUpdate) => Promise<void> | null;
  /** What must be read before the first slot of a new stream is told; null when no hole is before it. Never rejects. */
  gapBefore: (update: DecisiveUpdate) => Promise<void> | null;
  /** Holds the stream back, or no longer. */
  setPaused: (isPaused: boolean) => void;
  /** A new stream tells of everything but slots, or of what cannot be heard. */
  onOverflow: () => void;
}>;

type SlotOf<Status> = Extract<Update, { kind: 'slot' }> & Readonly<{ status: Status }>;

/** Shows where a stream begins. */
export type DecisiveUpdate = SlotOf<'createdBank' | 'processed'>;

const RESUMED = 'resumed';

function asDecisive(item: QueuedUpdate | typeof RESUMED): DecisiveUpdate | null {
  if (item === RESUMED || item.update.kind !== 'slot') return null;
  const { update } = item;
  return update.status === 'createdBank' || update.status === 'processed' ? (update as DecisiveUpdate) : null;
}

/**
 * Updates on their way from a stream to whoever hears them: in order, one after the other, waiting where something
 * must be fetched first. After a stream was replaced they wait until it has shown where it begins.
 */
export class UpdateQueue {
  readonly #options: UpdateQueueOptions;
  #queue: (QueuedUpdate | typeof RESUMED)[] = [];
  /** Changes when all that waits is forgotten: what is fetched then comes too late. */
  #generation = {};
  #isBusy = false;
  #isResuming = false;

  constructor(options: UpdateQueueOptions) {
    this.#options = options;
  }

  push(queued: QueuedUpdate): void {
    if (!this.#isBusy && !this.#isResuming && this.#queue.length === 0) {
      this.#handle(queued);
      return;
    }
    this.#queue.push(queued);
    if (!this.#isBusy && asDecisive(queued) !== null) this.#drain();
    if (this.#queue.length < this.#options.queueMax) return;
    if (this.#isBusy) this.#options.setPaused(true);
    else this.#options.onOverflow();
  }

  /** What comes from now on is of another stream. */
  markResumed(): void {
    this.#queue.push(RESUMED);
    if (!this.#isBusy) this.#drain();
  }

  clear(): void {
    this.#queue = [];
    this.#generation = {};
    this.#isBusy = false;
    this.#isResuming = false;
    this.#options.setPaused(false);
  }

  #drain(): void {
    const generation = this.#generation;
    const queue = this.#queue;
    let handled = 0;
    while (generation === this.#generation && !this.#isBusy && handled < queue.length) {
      const item = queue[handled]!;
      if (this.#isResuming && item !== RESUMED && !this.#findStart(queue, handled)) break;
      if (this.#isBusy || generation !== this.#generation) break;
      handled++;
      if (item === RESUMED) this.#isResuming = true;
      else this.#handle(item);
    }
    if (generation !== this.#generation) return;
    queue.splice(0, handled);
    if (queue.length < this.#options.queueMax) this.#options.setPaused(false);
  }

  /** @returns false while nothing has shown where the stream begins. */
  #findStart(queue: readonly (QueuedUpdate | typeof RESUMED)[], from: number): boolean {
    let isReplaced = false;
    for (let at = from; at < queue.length; at++) {
      const item = queue[at]!;
      // Another stream replaced this one before it told of a slot: what it told is told, the next shows the hole.
      isReplaced = item === RESUMED;
      if (isReplaced) break;
      const update = asDecisive(item);
      if (update === null) continue;
      this.#isResuming = false;
      const generation = this.#generation;
      const read = this.#options.gapBefore(update);
      if (read !== null && generation === this.#generation) this.#wait(read, null);
      return true;
    }
    return isReplaced;
  }

  #handle(queued: QueuedUpdate): void {
    const fetched = this.#options.prefetch(queued);
    if (fetched === null) this.#options.emit(queued);
    else this.#wait(fetched, queued);
  }

  #wait(fetched: Promise<void>, queued: QueuedUpdate | null): void {
    const generation = this.#generation;
    this.#isBusy = true;
    const resume = (): void => {
      if (generation !== this.#generation) return;
      this.#isBusy = false;
      if (queued !== null) this.#options.emit(queued);
      if (generation === this.#generation) this.#drain();
    };
    // What breaks whoever hears it is given up with all that waits behind it.
    void fetched.then(resume).catch(() => {
      if (generation === this.#generation) this.#options.onOverflow();
    });
  }
}
