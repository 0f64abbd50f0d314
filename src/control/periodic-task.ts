/** Runs work periodically and on demand, one run at a time. */
export class PeriodicTask {
  readonly #work: () => Promise<void>;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;

  /** @param work - must not reject. */
  constructor(work: () => Promise<void>, intervalMs: number) {
    this.#work = work;
    this.#intervalMs = intervalMs;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.run(), this.#intervalMs);
  }

  /** Starts a run, or joins the current run. */
  run(): Promise<void> {
    this.#running ??= this.#work().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** Waits for the current run, which may have started too early to see recent changes, then starts a new run. */
  async rerun(): Promise<void> {
    await this.#running;
    await this.run();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  /** Stops the periodic runs, then runs once more. */
  async finish(): Promise<void> {
    await this.stop();
    await this.run();
  }
}
