import type { Logger } from '../../base/log.ts';

/** How long a warning is not written again. */
const PAUSE_MS = 60_000;

type WarningState = { atMs: number; times: number };

/** Writes each warning once a minute at most, and with the next one how often it was left out. */
export class RateLimitedLogger {
  readonly #log: Logger;
  readonly #warnings = new Map<string, WarningState>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param message - one of few; what differs from time to time goes into `facts`. */
  warn(facts: Readonly<Record<string, unknown>>, message: string): void {
    const now = performance.now();
    const last = this.#warnings.get(message);
    if (last !== undefined && now - last.atMs < PAUSE_MS) {
      last.times++;
      return;
    }
    this.#log.warn(last === undefined ? facts : { ...facts, leftOut: last.times }, message);
    this.#warnings.set(message, { atMs: now, times: 0 });
  }
}
