import type { Logger } from '../../base/log.ts';

const PAUSE_MS = 60_000;

/** Logs each warning at most once per minute, with the number of suppressed repeats. */
export class RateLimitedLogger {
  readonly #log: Logger;
  readonly #warnings = new Map<string, { atMs: number; times: number }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param message - one of a fixed set; variable parts belong in `facts`. */
  warn(facts: Readonly<Record<string, unknown>>, message: string): void {
    const now = performance.now();
    const last = this.#warnings.get(message);
    if (last !== undefined && now - last.atMs < PAUSE_MS) {
      last.times++;
      return;
    }
    this.#log.warn(last === undefined ? facts : { ...facts, suppressed: last.times }, message);
    this.#warnings.set(message, { atMs: now, times: 0 });
  }
}
