import { withDefaults } from '../../base/with-defaults.ts';
import { OTHER_METHOD } from '../metering/usage-meter.ts';
import { redactText } from './redact-body.ts';

export const unknownMethodOptions = {
  /** Maximum names per customer and hour; further names are counted as `other`. */
  customerNamesMax: 100,
  /** Maximum counts in memory; further calls are not counted by name. */
  countsMax: 5_000,
};

/** Calls of a customer to a method that no node supports, in one hour and by this process. */
export type UnknownMethodCount = {
  /** Hours since the Unix epoch. */
  readonly hour: number;
  readonly customerId: string;
  readonly method: string;
  calls: number;
  /** Unix milliseconds. */
  lastAt: number;
  /** The value of `calls` that is stored. */
  storedCalls: number;
};

const HOUR_MS = 3_600_000;
const NAME_MAX_CHARS = 64;

export class UnknownMethods {
  readonly #options: typeof unknownMethodOptions;
  readonly #counts = new Map<string, UnknownMethodCount>();
  /** Number of names by customer in the current hour. */
  readonly #names = new Map<string, number>();
  #hour = 0;

  constructor(options: Partial<typeof unknownMethodOptions> = {}) {
    this.#options = withDefaults(unknownMethodOptions, options);
  }

  /** @param nowMs - Unix milliseconds. */
  count(customerId: string, name: string, nowMs: number): void {
    const hour = Math.floor(nowMs / HOUR_MS);
    if (hour !== this.#hour) this.#startHour(hour);
    const count =
      this.#countOf(customerId, redactText(name, NAME_MAX_CHARS)) ?? this.#countOf(customerId, OTHER_METHOD);
    if (count === null) return;
    count.calls++;
    count.lastAt = nowMs;
  }

  /** Counts that are not stored yet. The caller sets `storedCalls`. */
  unstored(): UnknownMethodCount[] {
    return [...this.#counts.values()].filter(({ calls, storedCalls }) => calls !== storedCalls);
  }

  /** null if there is no room for another name. */
  #countOf(customerId: string, method: string): UnknownMethodCount | null {
    const key = `${this.#hour} ${customerId} ${method}`;
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const names = this.#names.get(customerId) ?? 0;
    const { customerNamesMax, countsMax } = this.#options;
    const isFull = names >= customerNamesMax && method !== OTHER_METHOD;
    if (isFull || this.#counts.size >= countsMax) return null;
    this.#names.set(customerId, names + 1);
    const count = { hour: this.#hour, customerId, method, calls: 0, lastAt: 0, storedCalls: 0 };
    this.#counts.set(key, count);
    return count;
  }

  /** Forgets the stored counts of earlier hours. */
  #startHour(hour: number): void {
    this.#hour = hour;
    this.#names.clear();
    for (const [key, { calls, storedCalls }] of this.#counts)
      if (calls === storedCalls) this.#counts.delete(key);
  }
}
