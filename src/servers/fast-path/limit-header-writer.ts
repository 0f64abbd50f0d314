import type { LimitStatus } from '../../protocol/request-handler.ts';
import { rateLimitHeaderValues, writeStatuses } from '../rate-limit-headers.ts';
import type { ByteText } from './byte-text.ts';

/** What a policy without a limit of that kind has in place of its numbers. */
const NONE = -1;
/** Policies that are held: a service has few plans. */
const CACHED_POLICIES_MAX = 8;
const LINE_END = Buffer.from('\r\n');

/** The numbers that a policy is made of, and its line with the name of the next. */
type Policy = Readonly<{
  rate: number;
  rateWindow: number;
  credits: number;
  creditsWindow: number;
  line: Buffer;
}>;

/**
 * Writes the fields RateLimit-Policy and RateLimit. A policy is the same for all calls of a plan, and written once; only
 * where the caller stands with it is written anew each time.
 */
export class LimitHeaderWriter {
  readonly #policies: (Policy | undefined)[] = new Array<undefined>(CACHED_POLICIES_MAX).fill(undefined);
  #next = 0;

  /** @param limits - show something. */
  write(text: ByteText, limits: LimitStatus): void {
    text.copy(this.#lineOf(limits));
    writeStatuses(text, 'rpc', limits);
    text.copy(LINE_END);
  }

  #lineOf(limits: LimitStatus): Buffer {
    const { rateLimit, quota } = limits;
    const rate = rateLimit === null ? NONE : rateLimit.limit;
    const rateWindow = rateLimit === null ? NONE : rateLimit.windowSeconds;
    const credits = quota == null ? NONE : quota.limit;
    const creditsWindow = quota == null ? NONE : quota.windowSeconds;
    for (const cached of this.#policies) {
      if (cached === undefined) break;
      if (cached.rate !== rate || cached.rateWindow !== rateWindow) continue;
      if (cached.credits === credits && cached.creditsWindow === creditsWindow) return cached.line;
    }
    const line = Buffer.from(
      `ratelimit-policy: ${rateLimitHeaderValues('rpc', limits)?.[0]}\r\nratelimit: `,
      'latin1',
    );
    this.#policies[this.#next] = { rate, rateWindow, credits, creditsWindow, line };
    this.#next = (this.#next + 1) % CACHED_POLICIES_MAX;
    return line;
  }
}
