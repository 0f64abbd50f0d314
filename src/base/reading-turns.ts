/** Messages that take long to read are read for so long in a turn of the event loop; the rest waits for the next. */
const TURN_MS = 5;

/**
 * Lets streams read in turns what takes long, so that all of them together do not stop everything else. Each asks for one
 * message at a time, so no more wait than there are streams.
 */
export class ReadingTurns {
  #waiting: (() => void)[] = [];
  #isDue = false;
  readonly #run = (): void => {
    this.#isDue = false;
    const untilMs = performance.now() + TURN_MS;
    let done = 0;
    while (done < this.#waiting.length && (done === 0 || performance.now() < untilMs)) {
      this.#waiting[done++]?.();
    }
    this.#waiting.splice(0, done);
    if (this.#waiting.length > 0) this.#schedule();
  };

  /** Asks to read one message, in a turn to come. @param read - throws nothing. */
  ask(read: () => void): void {
    this.#waiting.push(read);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#run);
  }
}
