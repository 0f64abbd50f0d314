/** Milliseconds of parsing per turn of the event loop. */
const TIME_SLICE_MS = 5;

/**
 * Runs long parsing tasks of many streams in turns, so that together they block the event loop for one time
 * slice at most.
 */
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
