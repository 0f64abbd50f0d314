import { CidrSet } from '../base/ip-address.ts';
import { Lru } from '../base/lru.ts';
import { withDefaults } from '../base/with-defaults.ts';
import { Failure } from '../protocol/errors.ts';
import type { Client } from '../protocol/serve.ts';

export type WrongKeysOptions = Readonly<{
  /** Wrong keys that may come from one address within a minute; with the last of them it is refused. */
  wrongKeysPerMinute: number;
  /** How long it is refused then, whatever key it shows. */
  refusedMs: number;
  /** Addresses that are counted at a time; those that asked longest ago are forgotten. */
  addressesMax: number;
  /** Addresses and ranges that are not counted: many callers come from there. */
  exempt: readonly string[];
}>;

/** What holds when nothing else is said. */
export const wrongKeysOptions: WrongKeysOptions = {
  wrongKeysPerMinute: 120,
  refusedMs: 60_000,
  addressesMax: 100_000,
  // A proxy on the same machine would have everybody refused for what one does.
  exempt: ['127.0.0.0/8', '::1'],
};

const MINUTE_MS = 60_000;

/** Wrong keys of an address in the minute that began with the first of them. */
type Count = { keys: number; sinceMs: number; refusedUntilMs: number };

/**
 * Refuses addresses from which many wrong keys come, before anything of a key is looked at: a right one from there is
 * refused as well, so that no guess tells whether it was one. Of IPv6 a network of 64 bits is one address.
 */
export class WrongKeys {
  readonly #options: WrongKeysOptions;
  readonly #exempt: CidrSet;
  readonly #counts: Lru<string, Count>;

  constructor(options: Partial<WrongKeysOptions> = {}) {
    this.#options = withDefaults(wrongKeysOptions, options);
    this.#exempt = new CidrSet(this.#options.exempt);
    this.#counts = new Lru(this.#options.addressesMax);
  }

  /** Addresses that are counted. */
  get size(): number {
    return this.#counts.size;
  }

  /**
   * Whether an address may show a key.
   * @param nowMs - milliseconds of a clock that does not run backwards.
   * @throws Failure TOO_MANY_WRONG_KEYS
   */
  check({ ip }: Client, nowMs: number): void {
    if (this.#counts.size === 0 || ip === null) return;
    const count = this.#counts.get(ip.site);
    if (count === undefined || count.refusedUntilMs <= nowMs) return;
    const retryAfter = Math.max(1, Math.ceil((count.refusedUntilMs - nowMs) / 1_000));
    throw new Failure('TOO_MANY_WRONG_KEYS', { retryAfter });
  }

  /** Counts a wrong key. @param nowMs - as for `check`. */
  count({ ip, isProxy }: Client, nowMs: number): void {
    if (ip === null || isProxy || this.#exempt.has(ip)) return;
    const count = this.#countOf(ip.site, nowMs);
    count.keys += 1;
    const { wrongKeysPerMinute, refusedMs } = this.#options;
    if (count.keys < wrongKeysPerMinute) return;
    count.refusedUntilMs = nowMs + refusedMs;
    // Afterwards it has as many as any other.
    count.keys = 0;
    count.sinceMs = count.refusedUntilMs;
  }

  #countOf(site: string, nowMs: number): Count {
    const known = this.#counts.get(site);
    if (known !== undefined) {
      if (nowMs - known.sinceMs >= MINUTE_MS) {
        known.keys = 0;
        known.sinceMs = nowMs;
      }
      return known;
    }
    const fresh = { keys: 0, sinceMs: nowMs, refusedUntilMs: 0 };
    this.#counts.set(site, fresh);
    return fresh;
  }
}
