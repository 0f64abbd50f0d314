import { Lru } from '../../base/cache/lru.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { PlanLimits } from '../auth/key-record.ts';

export const messageRateOptions = {
  /** Per key family. A plan's call rate applies instead if it is higher. If calls are unlimited, messages are too. */
  messagesPerSecond: 5_000,
  familiesMax: 100_000,
};

export type MessageRateOptions = Readonly<typeof messageRateOptions>;

/** Every this many bytes count as one additional message, because they take about as long to parse. */
const BYTES_PER_MESSAGE = 1_024;
/** Bucket capacity, in seconds at the full rate. A debt above this may end a connection: see `consume`. */
const BURST_SECONDS = 2;

type CallRate = Pick<PlanLimits, 'rpcPerSecond'>;

type Bucket = { tokens: number; filledAtMs: number };

/**
 * Limits the rate at which messages from long-lived connections are read. Unlike the call rate limit, it counts
 * everything that takes time to parse, including pings and unsubscribes, by number and size.
 */
export class MessageRateLimiter {
  readonly #options: MessageRateOptions;
  readonly #buckets: Lru<string, Bucket>;

  constructor(options: Partial<MessageRateOptions> = {}) {
    this.#options = withDefaults(messageRateOptions, options);
    this.#buckets = new Lru(this.#options.familiesMax);
  }

  /**
   * @param messages - number of calls in the message, valid or not; 1 for a control frame.
   * @returns milliseconds to pause reading; Infinity to end the connection. Even a large message never ends
   * a connection that was not in debt.
   */
  consume(familyId: string, plan: CallRate, messages: number, bytes: number, nowMs: number): number {
    const { rpcPerSecond } = plan;
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
