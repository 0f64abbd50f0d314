import { Lru } from '../../base/cache/lru.ts';
import { CidrSet } from '../../base/ip-address.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ClientInfo } from '../../protocol/request-handler.ts';

export type FailedAuthOptions = Readonly<{
  /** Wrong keys that may come from one address within a minute; with the last of them it is refused. */
  failedAuthPerMinute: number;
  /** How long it is refused then, whatever key it shows. */
  blockMs: number;
  /** Addresses that are counted at a time; those that asked longest ago are forgotten. */
  addressesMax: number;
  /** Addresses and ranges that are not counted: many callers come from there. */
  exempt: readonly string[];
}>;

/** What holds when nothing else is said. */
export const failedAuthOptions: FailedAuthOptions = {
  failedAuthPerMinute: 120,
  blockMs: 60_000,
  addressesMax: 100_000,
  // A proxy on the same machine would have everybody refused for what one does.
  exempt: ['127.0.0.0/8', '::1'],
};

const MINUTE_MS = 60_000;

/** Wrong keys of an address in the minute that began with the first of them. */
type FailureCount = { failures: number; sinceMs: number; blockedUntilMs: number };

/**
 * Refuses addresses from which many wrong keys come, before anything of a key is looked at: a right one from there is
 * refused as well, so that no guess tells whether it was one. Of IPv6 a network of 64 bits is one address.
 */
export class FailedAuthLimiter {
  readonly #options: FailedAuthOptions;
  readonly #exempt: CidrSet;
  readonly #counts: Lru<string, FailureCount>;

  constructor(options: Partial<FailedAuthOptions> = {}) {
    this.#options = withDefaults(failedAuthOptions, options);
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
  check({ ip }: ClientInfo, nowMs: number): void {
    if (this.#counts.size === 0 || ip === null) return;
    const count = this.#counts.get(ip.site);
    if (count === undefined || count.blockedUntilMs <= nowMs) return;
    const retryAfter = Math.max(1, Math.ceil((count.blockedUntilMs - nowMs) / 1_000));
    throw new Failure('TOO_MANY_WRONG_KEYS', { retryAfter });
  }

  /** Counts a wrong key. @param nowMs - as for `check`. */
  recordFailure({ ip, isProxy }: ClientInfo, nowMs: number): void {
    if (ip === null || isProxy || this.#exempt.has(ip)) return;
    const count = this.#countFor(ip.site, nowMs);
    count.failures += 1;
    const { failedAuthPerMinute, blockMs } = this.#options;
    if (count.failures < failedAuthPerMinute) return;
    count.blockedUntilMs = nowMs + blockMs;
    // Afterwards it has as many as any other.
    count.failures = 0;
    count.sinceMs = count.blockedUntilMs;
  }

  #countFor(site: string, nowMs: number): FailureCount {
    const existing = this.#counts.get(site);
    if (existing !== undefined) {
      if (nowMs - existing.sinceMs >= MINUTE_MS) {
        existing.failures = 0;
        existing.sinceMs = nowMs;
      }
      return existing;
    }
    const fresh = { failures: 0, sinceMs: nowMs, blockedUntilMs: 0 };
    this.#counts.set(site, fresh);
    return fresh;
  }
}
