import { Lru } from '../base/lru.ts';
import type { RateDecision } from './rate-limit.ts';

type WindowLimitOptions = Readonly<{
  /** Requests that a window has room for. */
  requestsMax: number;
  windowMs: number;
  /** Parts of a window that are counted by themselves; a whole part is forgotten at once. */
  parts?: number;
  /** Names that are counted at a time; those that asked longest ago are forgotten. */
  namesMax: number;
}>;

/** Of a minute, parts of a second. */
const PARTS = 60;

/** Requests of one name: those of each part of the window that ends with part number `newest`, and all of them. */
type Count = { newest: number; all: number; readonly parts: Uint32Array };

/**
 * So many requests of a name in a sliding window, counted in parts of it: one number a part, whatever comes.
 * Whoever had fewer than `requestsMax` let through in the last `windowMs` gets the next one through; and in no stretch
 * that is a part shorter than `windowMs` are more let through than `requestsMax`.
 */
export class WindowLimit {
  readonly #requestsMax: number;
  readonly #windowMs: number;
  readonly #parts: number;
  readonly #counts: Lru<string, Count>;

  constructor({ requestsMax, windowMs, parts = PARTS, namesMax }: WindowLimitOptions) {
    this.#requestsMax = requestsMax;
    this.#windowMs = windowMs;
    this.#parts = parts;
    this.#counts = new Lru(namesMax);
  }

  /**
   * Counts a request if there is room for it.
   * @param nowMs - milliseconds of a clock that does not run backwards.
   */
  take(name: string, nowMs: number): RateDecision {
    const count = this.#countAt(name, this.#partOf(nowMs));
    const allowed = count.all < this.#requestsMax;
    if (allowed) this.#add(count);
    const remaining = this.#requestsMax - count.all;
    // Until all is forgotten; or, where there is no room, until some is.
    const forgotten = remaining > 0 ? count.newest : this.#oldest(count);
    const resetSeconds = Math.ceil(((forgotten + this.#parts) * this.#partMs - nowMs) / 1_000);
    const windowSeconds = Math.ceil(this.#windowMs / 1_000);
    return {
      allowed,
      state: { limit: this.#requestsMax, remaining, windowSeconds, resetSeconds },
      retryAfter: allowed ? 0 : Math.max(1, resetSeconds),
    };
  }

  get #partMs(): number {
    return this.#windowMs / this.#parts;
  }

  #partOf(nowMs: number): number {
    return Math.floor(nowMs / this.#partMs);
  }

  #countAt(name: string, part: number): Count {
    const known = this.#counts.get(name);
    if (known !== undefined) {
      this.#forget(known, part);
      return known;
    }
    const fresh = { newest: part, all: 0, parts: new Uint32Array(this.#parts) };
    this.#counts.set(name, fresh);
    return fresh;
  }

  #add(count: Count): void {
    const at = count.newest % this.#parts;
    count.parts[at] = (count.parts[at] ?? 0) + 1;
    count.all++;
  }

  /** Moves the window on until it ends with this part. */
  #forget(count: Count, part: number): void {
    const steps = Math.min(part - count.newest, this.#parts);
    for (let step = 1; step <= steps; step++) {
      const at = (count.newest + step) % this.#parts;
      count.all -= count.parts[at] ?? 0;
      count.parts[at] = 0;
    }
    count.newest = Math.max(count.newest, part);
  }

  /** The first part of the window in which requests were let through. */
  #oldest({ newest, parts }: Count): number {
    let part = newest - this.#parts + 1;
    while (part < newest && parts[(part + this.#parts) % this.#parts] === 0) part++;
    return part;
  }
}
