const DELAY_MIN_MS = 100;
const DELAY_MAX_MS = 5_000;

/** Uptime after which the delay is reset to its minimum. */
const HEALTHY_AFTER_MS = 60_000;

/** Delay before restarting a process; doubles with each unexpected exit, up to the maximum. */
export class RestartBackoff {
  #recentExits = 0;

  /** @returns the delay in milliseconds. @param uptimeMs - how long the exited process had been ready. */
  next(uptimeMs: number): number {
    if (uptimeMs >= HEALTHY_AFTER_MS) this.#recentExits = 0;
    const delay = Math.min(DELAY_MIN_MS * 2 ** this.#recentExits, DELAY_MAX_MS);
    this.#recentExits++;
    return delay;
  }
}
