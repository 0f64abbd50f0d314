const DELAY_MIN_MS = 100;
const DELAY_MAX_MS = 5_000;

/** Uptime after which the delay starts from its minimum again. */
const HEALTHY_AFTER_MS = 60_000;

/** Delays before restarts of a process, which double with each unexpected exit. */
export class RestartBackoff {
  #exits = 0;

  /** Returns the delay in milliseconds. @param uptimeMs - of the process that exited, since it was ready. */
  next(uptimeMs: number): number {
    if (uptimeMs >= HEALTHY_AFTER_MS) this.#exits = 0;
    const delay = Math.min(DELAY_MIN_MS * 2 ** Math.min(this.#exits, 16), DELAY_MAX_MS);
    this.#exits++;
    return delay;
  }
}
