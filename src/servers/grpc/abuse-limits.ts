import { Lru } from '../../base/cache/lru.ts';
import { subnetOf } from '../../base/ip-address.ts';

/** Loopback addresses are blocked only briefly, because a local proxy may serve other clients. */
const LOOPBACK_MAX_MS = 1_000;
const LOOPBACK = /^(?:::1$|127\.|::ffff:127\.)/;

/** Addresses that may not reconnect for a while after flooding the server. */
export class AbuseBlocklist {
  readonly #blockMs: number;
  readonly #untilMs: Lru<string, number>;

  /** @param blockMs - 0: never block. */
  constructor(blockMs: number, max: number) {
    this.#blockMs = blockMs;
    this.#untilMs = new Lru(max);
  }

  add(address: string, nowMs: number): void {
    if (this.#blockMs === 0) return;
    const blockMs = LOOPBACK.test(address) ? Math.min(this.#blockMs, LOOPBACK_MAX_MS) : this.#blockMs;
    this.#untilMs.set(subnetOf(address), nowMs + blockMs);
  }

  has(address: string, nowMs: number): boolean {
    if (this.#untilMs.size === 0) return false;
    const subnet = subnetOf(address);
    const untilMs = this.#untilMs.get(subnet);
    if (untilMs === undefined) return false;
    if (nowMs < untilMs) return true;
    this.#untilMs.delete(subnet);
    return false;
  }
}

export class LeakyBucket {
  readonly #perSecond: number;
  readonly #burstMax: number;
  level = 0;
  #atMs = 0;

  constructor(perSecond: number, burstMax: number) {
    this.#perSecond = perSecond;
    this.#burstMax = burstMax;
  }

  /** @returns whether the burst limit is exceeded. */
  add(count: number, nowMs: number): boolean {
    const leaked = ((nowMs - this.#atMs) / 1_000) * this.#perSecond;
    this.level = Math.max(0, this.level - leaked) + count;
    this.#atMs = nowMs;
    return this.level > this.#burstMax;
  }

  reset(): void {
    this.level = 0;
  }
}
