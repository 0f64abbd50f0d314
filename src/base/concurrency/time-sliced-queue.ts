/** Messages that take long to read are read for so long in a turn of the event loop; the rest waits for the next. */
const TIME_SLICE_MS = 5;

/**
 * Lets streams read in turns what takes long, so that all of them together do not stop everything else. Each asks for one
 * message at a time, so no more wait than there are streams.
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

  /** Asks to read one message, in a turn to come. @param read - throws nothing. */
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
