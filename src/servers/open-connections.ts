/** Open connections of a server, with one sweep timer that runs while there are any. */
export abstract class OpenConnections<Connection> {
  readonly #open = new Set<Connection>();
  readonly #sweepIntervalMs: number;
  #timer: NodeJS.Timeout | null = null;
  #onEmpty: (() => void) | null = null;

  constructor(sweepIntervalMs: number) {
    this.#sweepIntervalMs = sweepIntervalMs;
  }

  get size(): number {
    return this.#open.size;
  }

  add(connection: Connection): void {
    this.#open.add(connection);
    this.#timer ??= setInterval(() => this.sweep(performance.now()), this.#sweepIntervalMs);
  }

  delete(connection: Connection): void {
    this.#open.delete(connection);
    if (this.#open.size > 0) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#onEmpty?.();
  }

  protected get open(): ReadonlySet<Connection> {
    return this.#open;
  }

  /** @param nowMs - of `performance.now()`. */
  protected abstract sweep(nowMs: number): void;

  /** Waits until no connection is left; one call at a time. @returns false after `withinMs`. */
  protected waitUntilEmpty(withinMs?: number): Promise<boolean> {
    if (this.#open.size === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = withinMs === undefined ? undefined : setTimeout(() => resolve(false), withinMs);
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
