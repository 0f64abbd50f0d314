/** How late a request may be given up. */
const BUSY_INTERVAL_MS = 20;
/** While there is nothing but unused connections. */
const IDLE_INTERVAL_MS = 1_000;

/**
 * Looks after deadlines: every 20 ms as long as anybody waits for anything, so that no request needs a timer of its own.
 * As long as it hurries it keeps the process alive.
 */
export class Sweeper {
  readonly #sweep: (now: number) => boolean | null;
  #timer: NodeJS.Timeout | null = null;
  #isBusy = false;

  /** @param sweep - returns whether anybody waits for anything; null when there is nothing left to look at. */
  constructor(sweep: (now: number) => boolean | null) {
    this.#sweep = sweep;
  }

  /** Somebody waits from now on. */
  start(): void {
    if (this.#isBusy) return;
    this.stop();
    this.#isBusy = true;
    this.#timer = setInterval(() => this.#tick(), BUSY_INTERVAL_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#isBusy = false;
  }

  #tick(): void {
    const isWaiting = this.#sweep(performance.now());
    if (isWaiting === true) return;
    if (isWaiting === null) this.stop();
    else if (this.#isBusy) this.#slowDown();
  }

  #slowDown(): void {
    this.stop();
    this.#timer = setInterval(() => this.#tick(), IDLE_INTERVAL_MS).unref();
  }
}
