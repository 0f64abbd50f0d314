import { Lru } from '../../base/cache/lru.ts';
import { parseIpAddress } from '../../base/ip-address.ts';

/** Who comes from this machine may come through a proxy, with others: it is kept out no longer than so. */
const LOOPBACK_MAX_MS = 1_000;
const LOOPBACK = /^(?:::1$|127\.|::ffff:127\.)/;

/** What one customer of a network has of it: with IPv6, one address more or less is nothing. */
const siteOf = (address: string): string => parseIpAddress(address)?.site ?? address;

/** Addresses whose connections were cut for a flood: they, and their neighbours of IPv6, may not come back at once. */
export class AbuseBlocklist {
  readonly #blockMs: number;
  readonly #untilMs: Lru<string, number>;

  /**
   * @param forMs - how long an address is kept out; 0: not at all.
   * @param max - addresses that are remembered.
   */
  constructor(blockMs: number, max: number) {
    this.#blockMs = blockMs;
    this.#untilMs = new Lru(max);
  }

  /** Remembers an address. @param nowMs - of `performance.now()`. */
  add(address: string, nowMs: number): void {
    if (this.#blockMs === 0) return;
    const blockMs = LOOPBACK.test(address) ? Math.min(this.#blockMs, LOOPBACK_MAX_MS) : this.#blockMs;
    this.#untilMs.set(siteOf(address), nowMs + blockMs);
  }

  /** Whether an address is kept out. */
  has(address: string, nowMs: number): boolean {
    if (this.#untilMs.size === 0) return false;
    const site = siteOf(address);
    const untilMs = this.#untilMs.get(site);
    if (untilMs === undefined) return false;
    if (nowMs < untilMs) return true;
    this.#untilMs.delete(site);
    return false;
  }
}
