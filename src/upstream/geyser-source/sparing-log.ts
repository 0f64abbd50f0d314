import type { Logger } from '../../base/log.ts';

/** How long a warning is not written again. */
const PAUSE_MS = 60_000;

type Warned = { atMs: number; times: number };

/** Writes each warning once a minute at most, and with the next one how often it was left out. */
export class SparingLog {
  readonly #log: Logger;
  readonly #warned = new Map<string, Warned>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param message - one of few; what differs from time to time goes into `facts`. */
  warn(facts: Readonly<Record<string, unknown>>, message: string): void {
    const now = performance.now();
    const last = this.#warned.get(message);
    if (last !== undefined && now - last.atMs < PAUSE_MS) {
      last.times++;
      return;
    }
    this.#log.warn(last === undefined ? facts : { ...facts, leftOut: last.times }, message);
    this.#warned.set(message, { atMs: now, times: 0 });
  }
}
