/** How late a request may be given up. */
const HURRIED_MS = 20;
/** While there is nothing but unused connections. */
const IDLE_MS = 1_000;

/**
 * Looks after deadlines: every 20 ms as long as anybody waits for anything, so that no request needs a timer of its own.
 * As long as it hurries it keeps the process alive.
 */
export class Sweeper {
  readonly #sweep: (now: number) => boolean | null;
  #timer: NodeJS.Timeout | null = null;
  #isHurrying = false;

  /** @param sweep - returns whether anybody waits for anything; null when there is nothing left to look at. */
  constructor(sweep: (now: number) => boolean | null) {
    this.#sweep = sweep;
  }

  /** Somebody waits from now on. */
  hurry(): void {
    if (this.#isHurrying) return;
    this.stop();
    this.#isHurrying = true;
    this.#timer = setInterval(() => this.#look(), HURRIED_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#isHurrying = false;
  }

  #look(): void {
    const waits = this.#sweep(performance.now());
    if (waits === true) return;
    if (waits === null) this.stop();
    else if (this.#isHurrying) this.#slowDown();
  }

  #slowDown(): void {
    this.stop();
    this.#timer = setInterval(() => this.#look(), IDLE_MS).unref();
  }
}
