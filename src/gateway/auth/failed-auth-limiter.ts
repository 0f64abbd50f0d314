import { Lru } from '../../base/cache/lru.ts';
import { CidrSet } from '../../base/ip-address.ts';
import type { ClientInfo } from '../../protocol/client-info.ts';
import { Failure } from '../../protocol/errors.ts';

export const failedAuthOptions = {
  /** An address that sends this many invalid keys in one minute is blocked. */
  failedAuthPerMinute: 120,
  /** How long the address is blocked, whatever key it sends. */
  failedAuthBlockMs: 60_000,
  /** Maximum number of tracked addresses; the least recently used is evicted first. */
  addressesMax: 100_000,
  /** Addresses that are never blocked, because all clients of a proxy on the same host share them. */
  failedAuthExempt: ['127.0.0.0/8', '::1'] as readonly string[],
};

export type FailedAuthOptions = Readonly<typeof failedAuthOptions>;

const MINUTE_MS = 60_000;

/** Failures of one address in the current minute, which starts with the first failure or when a block ends. */
type FailureCount = { failures: number; sinceMs: number; blockedUntilMs: number };

/** Rejects blocked addresses before reading the key: a correct guess reveals nothing. Counts IPv6 addresses by /64. */
export class FailedAuthLimiter {
  readonly #options: FailedAuthOptions;
  readonly #exempt: CidrSet;
  readonly #counts: Lru<string, FailureCount>;
  /** While false, callers may skip `check`. */
  hasFailures = false;

  /** `failedAuthPerMinute` and `failedAuthBlockMs` are read on each use, because a reload may change them. */
  constructor(options: FailedAuthOptions = failedAuthOptions) {
    this.#options = options;
    this.#exempt = new CidrSet(options.failedAuthExempt);
    this.#counts = new Lru(options.addressesMax);
  }

  get size(): number {
    return this.#counts.size;
  }

  /** @param nowMs - monotonic time. */
  check({ ip }: ClientInfo, nowMs: number): void {
    if (ip === null) return;
    const count = this.#counts.get(ip.subnet);
    if (count === undefined || count.blockedUntilMs <= nowMs) return;
    const retryAfter = Math.max(1, Math.ceil((count.blockedUntilMs - nowMs) / 1_000));
    throw new Failure('TOO_MANY_WRONG_KEYS', { retryAfter });
  }

  recordFailure({ ip, isProxy }: ClientInfo, nowMs: number): void {
    if (ip === null || isProxy || this.#exempt.has(ip)) return;
    const count = this.#countFor(ip.subnet, nowMs);
    this.hasFailures = true;
    count.failures += 1;
    const { failedAuthPerMinute, failedAuthBlockMs } = this.#options;
    if (count.failures < failedAuthPerMinute) return;
    count.blockedUntilMs = nowMs + failedAuthBlockMs;
    // The count restarts after the block.
    count.failures = 0;
    count.sinceMs = count.blockedUntilMs;
  }

  #countFor(subnet: string, nowMs: number): FailureCount {
    const existing = this.#counts.get(subnet);
    if (existing !== undefined) {
      if (nowMs - existing.sinceMs >= MINUTE_MS) {
        existing.failures = 0;
        existing.sinceMs = nowMs;
      }
      return existing;
    }
    const fresh = { failures: 0, sinceMs: nowMs, blockedUntilMs: 0 };
    this.#counts.set(subnet, fresh);
    return fresh;
  }
}
