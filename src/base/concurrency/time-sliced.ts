import { setImmediate as nextTurn } from 'node:timers/promises';

const TIME_SLICE_MS = 5;

/** Maps items in sequence, yielding to the event loop after each time slice. */
export async function mapTimeSliced<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let startedAt = performance.now();
  for (const item of items) {
    if (performance.now() - startedAt >= TIME_SLICE_MS) {
      await nextTurn();
      startedAt = performance.now();
    }
    results.push(work(item));
  }
  return results;
}

/** Runs tasks from many streams in FIFO order, in time slices, so that together they do not block the event loop. */
export class TimeSlicedQueue {
  #waiting: (() => void)[] = [];
  #isScheduled = false;
  readonly #runSlice = (): void => {
    this.#isScheduled = false;
    const untilMs = performance.now() + TIME_SLICE_MS;
    let done = 0;
    while (done < this.#waiting.length && (done === 0 || performance.now() < untilMs)) {
      this.#waiting[done++]?.();
    }
    this.#waiting.splice(0, done);
    if (this.#waiting.length > 0) this.#schedule();
  };

  /** Queues a task. @param task - must not throw. */
  enqueue(task: () => void): void {
    this.#waiting.push(task);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#runSlice);
  }
}
