import { Lru } from '../base/lru.ts';
import { Followed } from './followed.ts';
import type { RateDecision } from './rate-limit.ts';

type WindowLimitOptions = Readonly<{
  /** Requests that a window has room for. */
  requestsMax: number;
  windowMs: number;
  /** Parts of a window that are counted by themselves; a whole part is forgotten at once. */
  parts?: number;
  /** Names that are counted at a time; those that asked longest ago are forgotten. */
  namesMax: number;
  /** Whether other gateways are to hear what is let through. */
  isShared?: boolean;
}>;

/** What a name was let through here, part by part, for the other gateways. */
export type CountedParts = Readonly<{
  name: string;
  /** Numbers of parts since the clock's zero, and the requests of each; those that changed since they were told. */
  parts: readonly (readonly [part: number, requests: number])[];
}>;

/** Of a minute, parts of a second. */
const PARTS = 60;

/** Requests of one name: those of each part of the window that ends with part number `newest`, and all of them. */
type Count = {
  newest: number;
  all: number;
  readonly parts: Uint32Array;
  /** The same of the other gateways, as it was heard of last; null: nothing was. */
  others: Uint32Array | null;
  othersAll: number;
  /** The first part that they have not heard of, as of that telling. */
  untold: number;
  telling: number;
};

/**
 * So many requests of a name in a sliding window, counted in parts of it: one number a part, whatever comes.
 * Whoever had fewer than `requestsMax` let through in the last `windowMs` gets the next one through; and in no stretch
 * that is a part shorter than `windowMs` are more let through than `requestsMax`. Where several gateways share a limit,
 * what others let through is counted as it was heard of last.
 */
export class WindowLimit {
  readonly #options: Pick<WindowLimitOptions, 'requestsMax'>;
  readonly #windowMs: number;
  readonly #parts: number;
  readonly #counts: Lru<string, Count>;
  /** Names that asked lately; null where nothing is shared. */
  readonly #asked: Followed | null;
  #gateways = 1;
  #telling = 0;

  constructor(options: WindowLimitOptions) {
    const { windowMs, parts = PARTS, namesMax, isShared = false } = options;
    this.#options = options;
    this.#windowMs = windowMs;
    this.#parts = parts;
    this.#counts = new Lru(namesMax);
    this.#asked = isShared ? new Followed(namesMax) : null;
  }

  /** Length of a part. */
  get partMs(): number {
    return this.#windowMs / this.#parts;
  }

  /** Parts of the window. */
  get partsMax(): number {
    return this.#parts;
  }

  /**
   * Counts a request if there is room for it.
   * @param nowMs - milliseconds of a clock that does not run backwards.
   */
  take(name: string, nowMs: number): RateDecision {
    const count = this.#countAt(name, this.#partOf(nowMs));
    const requestsMax = Math.max(1, Math.floor(this.#options.requestsMax / this.#gateways));
    const allowed = this.#allOf(count) < requestsMax;
    if (allowed) this.#add(count);
    this.#asked?.add(name);
    const remaining = Math.max(0, requestsMax - this.#allOf(count));
    // Until all is forgotten; or, where there is no room, until some is.
    const forgotten = remaining > 0 ? count.newest : this.#oldest(count);
    const resetSeconds = Math.ceil(((forgotten + this.#parts) * this.partMs - nowMs) / 1_000);
    const windowSeconds = Math.ceil(this.#windowMs / 1_000);
    return {
      allowed,
      state: { limit: requestsMax, remaining, windowSeconds, resetSeconds },
      retryAfter: allowed ? 0 : Math.max(1, resetSeconds),
    };
  }

  /** What names were let through that asked lately, of no more than so many names. */
  counted(namesMax: number): CountedParts[] {
    const names = this.#asked?.next(namesMax) ?? [];
    return names.flatMap((name) => {
      const count = this.#counts.get(name);
      return count === undefined ? [] : [{ name, parts: this.#untoldOf(count) }];
    });
  }

  /** What was told is to be told again: nobody may have heard it. */
  tellAnew(): void {
    this.#telling += 1;
  }

  /** Takes in what the other gateways let through, part by part; of what is not named, nothing. */
  learn(name: string, parts: CountedParts['parts'], nowMs: number): void {
    const count = this.#counts.get(name);
    if (count === undefined) return;
    this.#forget(count, this.#partOf(nowMs));
    const others = count.others ?? new Uint32Array(this.#parts);
    others.fill(0);
    count.othersAll = 0;
    for (const [part, requests] of parts) {
      // What others let through later, by their clocks, counts for now.
      const known = Math.min(part, count.newest);
      if (known <= count.newest - this.#parts) continue;
      const at = known % this.#parts;
      others[at] = (others[at] ?? 0) + requests;
      count.othersAll += requests;
    }
    count.others = others;
  }

  /** From now on each of so many gateways has its part, since none hears of the others; 1: they hear of each other. */
  divide(gateways: number): void {
    this.#gateways = gateways;
  }

  /** All that counts: while no gateway hears of the others, what is let through here. */
  #allOf({ all, othersAll }: Count): number {
    return this.#gateways > 1 ? all : all + othersAll;
  }

  #untoldOf(count: Count): CountedParts['parts'] {
    const parts: [number, number][] = [];
    if (count.telling !== this.#telling) count.untold = 0;
    count.telling = this.#telling;
    for (let part = Math.max(count.untold, count.newest - this.#parts + 1); part <= count.newest; part++) {
      const requests = count.parts[part % this.#parts] ?? 0;
      if (requests > 0) parts.push([part, requests]);
    }
    // The newest one may grow.
    count.untold = count.newest;
    return parts;
  }

  #partOf(nowMs: number): number {
    return Math.floor(nowMs / this.partMs);
  }

  #countAt(name: string, part: number): Count {
    const known = this.#counts.get(name);
    if (known !== undefined) {
      this.#forget(known, part);
      return known;
    }
    const fresh: Count = {
      newest: part,
      all: 0,
      parts: new Uint32Array(this.#parts),
      others: null,
      othersAll: 0,
      untold: part,
      telling: this.#telling,
    };
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
      if (count.others !== null) {
        count.othersAll -= count.others[at] ?? 0;
        count.others[at] = 0;
      }
    }
    count.newest = Math.max(count.newest, part);
  }

  /** The first part of the window in which requests were let through. */
  #oldest({ newest, parts, others }: Count): number {
    let part = newest - this.#parts + 1;
    const isEmpty = (at: number): boolean => parts[at] === 0 && (others === null || others[at] === 0);
    while (part < newest && isEmpty((part + this.#parts) % this.#parts)) part++;
    return part;
  }
}
