import { Lru } from '../../base/cache/lru.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { PlanLimits } from '../auth/key-record.ts';

export type MessageRateOptions = Readonly<{
  /**
   * Messages a second of a key family, all its connections together; a plan that allows more calls has as many messages
   * as calls, and a plan without a limit of calls has none of messages.
   */
  messagesPerSecond: number;
  /** Families that are remembered. */
  familiesMax: number;
}>;

/** How fast connections are read when nothing else is said. */
export const messageRateOptions: MessageRateOptions = { messagesPerSecond: 5_000, familiesMax: 100_000 };

/** So many bytes count as another message: reading them takes as long. */
const BYTES_PER_MESSAGE = 1_024;
/** Seconds of messages that may come at once on top of nothing used, and as many again before a family is cut off. */
const BURST_SECONDS = 2;

type Bucket = { tokens: number; filledAtMs: number };

/**
 * How fast long connections are read. The rate limit counts calls and faults; this counts everything that takes time to
 * read, also pings and unsubscribes, and how long it is.
 */
export class MessageRateLimiter {
  readonly #options: MessageRateOptions;
  readonly #buckets: Lru<string, Bucket>;

  constructor(options: Partial<MessageRateOptions> = {}) {
    this.#options = withDefaults(messageRateOptions, options);
    this.#buckets = new Lru(this.#options.familiesMax);
  }

  /**
   * Counts what came in.
   * @param messages - calls and faults in it, or 1 for a frame of control.
   * @param nowMs - milliseconds of a clock that does not run backwards.
   * @returns milliseconds for which nothing more should be read; Infinity when too much came all the same. One message
   * that is within the plan is never too much by itself, however long.
   */
  consume(
    familyId: string,
    { rpcPerSecond }: Pick<PlanLimits, 'rpcPerSecond'>,
    messages: number,
    bytes: number,
    nowMs: number,
  ): number {
    if (rpcPerSecond <= 0) return 0;
    const perSecond = Math.max(this.#options.messagesPerSecond, rpcPerSecond);
    const capacity = perSecond * BURST_SECONDS;
    const bucket = this.#fill(familyId, perSecond, nowMs);
    const isInDebt = bucket.tokens < 0;
    bucket.tokens -= messages + bytes / BYTES_PER_MESSAGE;
    if (bucket.tokens >= 0) return 0;
    if (bucket.tokens < -capacity) {
      bucket.tokens = -capacity;
      if (isInDebt) return Number.POSITIVE_INFINITY;
    }
    return Math.ceil((-bucket.tokens * 1_000) / perSecond);
  }

  #fill(familyId: string, perSecond: number, nowMs: number): Bucket {
    const capacity = perSecond * BURST_SECONDS;
    const bucket = this.#buckets.get(familyId);
    if (bucket === undefined) {
      const full = { tokens: capacity, filledAtMs: nowMs };
      this.#buckets.set(familyId, full);
      return full;
    }
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    bucket.tokens = Math.min(capacity, bucket.tokens + (elapsedMs * perSecond) / 1_000);
    bucket.filledAtMs = Math.max(nowMs, bucket.filledAtMs);
    return bucket;
  }
}
