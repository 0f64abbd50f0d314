import { Lru } from '../base/lru.ts';
import type { RateDecision } from './rate-limit.ts';

export type WindowLimitOptions = Readonly<{
  /** Requests that a window has room for. */
  requestsMax: number;
  windowMs: number;
  /** Names that are counted at a time; those that asked longest ago are forgotten. */
  namesMax: number;
}>;

/** Requests of a name in the window that runs and in the one before it. */
type Count = { window: number; now: number; before: number };

/**
 * So many requests in any stretch of a window's length, counted under a name. Two numbers a name: those of the window
 * before count as much as is left of it, as if they had come evenly.
 */
export class WindowLimit {
  readonly #options: WindowLimitOptions;
  readonly #counts: Lru<string, Count>;

  constructor(options: WindowLimitOptions) {
    this.#options = options;
    this.#counts = new Lru(options.namesMax);
  }

  /**
   * Counts a request if there is room for it.
   * @param nowMs - milliseconds of a clock that does not run backwards.
   */
  take(name: string, nowMs: number): RateDecision {
    const { requestsMax, windowMs } = this.#options;
    const count = this.#countAt(name, Math.floor(nowMs / windowMs));
    const passed = (nowMs % windowMs) / windowMs;
    const allowed = count.before * (1 - passed) + count.now + 1 <= requestsMax;
    if (allowed) count.now++;
    const remaining = Math.max(0, Math.floor(requestsMax - count.before * (1 - passed) - count.now));
    const untilRoomMs = this.#untilRoomMs(count, passed);
    const resetSeconds = Math.ceil((remaining > 0 ? windowMs * (1 - passed) : untilRoomMs) / 1_000);
    return {
      allowed,
      state: { limit: requestsMax, remaining, windowSeconds: Math.ceil(windowMs / 1_000), resetSeconds },
      retryAfter: allowed ? 0 : Math.max(1, Math.ceil(untilRoomMs / 1_000)),
    };
  }

  #countAt(name: string, window: number): Count {
    const known = this.#counts.get(name);
    if (known === undefined) {
      const fresh = { window, now: 0, before: 0 };
      this.#counts.set(name, fresh);
      return fresh;
    }
    if (window > known.window) {
      known.before = window === known.window + 1 ? known.now : 0;
      known.now = 0;
      known.window = window;
    }
    return known;
  }

  /** Until another request fits: in this window, when enough of the last one has passed, else in the next. */
  #untilRoomMs({ now, before }: Count, passed: number): number {
    const { requestsMax, windowMs } = this.#options;
    const room = requestsMax - 1 - now;
    if (room >= 0) return before <= room ? 0 : Math.max(0, 1 - room / before - passed) * windowMs;
    return (1 - passed + Math.max(0, 1 - (requestsMax - 1) / now)) * windowMs;
  }
}
