import type { Update } from '../../../protocol/geyser/subscribe-update.ts';

/** An update with the server's time (Unix milliseconds) and node name. */
export type QueuedUpdate = Readonly<{ update: Update; at: bigint; node: string }>;

type UpdateQueueOptions = Readonly<{
  /** Queued updates; beyond it, the stream is paused, or `onOverflow` is called if pausing cannot help. */
  queueMax: number;
  emit: (queued: QueuedUpdate) => void;
  /** What must be fetched before the update is emitted; null for nothing. Never rejects. */
  prefetch: (queued: QueuedUpdate) => Promise<void> | null;
  /** Reads the gap before the first slot of a new stream; null for none. Never rejects. */
  gapBefore: (update: DecisiveUpdate) => Promise<void> | null;
  setPaused: (isPaused: boolean) => void;
  /** The queue is full while a new stream sends no slot, or the listener threw. */
  onOverflow: () => void;
}>;

type SlotOf<Status> = Extract<Update, { kind: 'slot' }> & Readonly<{ status: Status }>;

/** Shows where a stream starts. */
export type DecisiveUpdate = SlotOf<'createdBank' | 'processed'>;

const RESUMED = 'resumed';

function asDecisive(item: QueuedUpdate | typeof RESUMED): DecisiveUpdate | null {
  if (item === RESUMED || item.update.kind !== 'slot') return null;
  const { update } = item;
  return update.status === 'createdBank' || update.status === 'processed' ? (update as DecisiveUpdate) : null;
}

/**
 * Emits updates in order, one after the other, and waits where something must be fetched first. After a
 * stream was replaced, updates wait until its start is known.
 */
export class UpdateQueue {
  readonly #options: UpdateQueueOptions;
  #queue: (QueuedUpdate | typeof RESUMED)[] = [];
  /** Changes on `clear`, so that pending fetches are ignored. */
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

  /** Later updates come from another stream. */
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

  /** @returns false while the start of the stream is unknown. */
  #findStart(queue: readonly (QueuedUpdate | typeof RESUMED)[], from: number): boolean {
    let isReplaced = false;
    for (let at = from; at < queue.length; at++) {
      const item = queue[at]!;
      // The stream was replaced before its first slot; the next one shows the gap.
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
    // An error in the listener discards the queue.
    void fetched.then(resume).catch(() => {
      if (generation === this.#generation) this.#options.onOverflow();
    });
  }
}
