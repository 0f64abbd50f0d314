import type { SendLimits } from './limits.ts';

/** A transaction that was accepted lately. */
type Accepted = Readonly<{ until: number; hadPreflight: boolean }>;

/** Transactions that were accepted a moment ago, by network and bytes. */
export class AcceptedSends {
  readonly #limits: Pick<SendLimits, 'acceptedMs' | 'acceptedMax'>;
  /** In the order in which they end. */
  readonly #entries = new Map<string, Accepted>();

  constructor(limits: Pick<SendLimits, 'acceptedMs' | 'acceptedMax'>) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @param hadPreflight - a node had looked at it and found that it would succeed. */
  add(key: string, hadPreflight: boolean): void {
    const { acceptedMs, acceptedMax } = this.#limits;
    const now = performance.now();
    const earlier = this.#entries.get(key);
    this.#entries.delete(key);
    for (const [old, { until }] of this.#entries) {
      if (until > now && this.#entries.size < acceptedMax) break;
      this.#entries.delete(old);
    }
    const isLooked = hadPreflight || earlier?.hadPreflight === true;
    this.#entries.set(key, { until: now + acceptedMs, hadPreflight: isLooked });
  }

  /** Whether it was, and with a preflight where one is wanted. */
  covers(key: string, skipPreflight: boolean): boolean {
    const accepted = this.#entries.get(key);
    if (accepted === undefined || performance.now() >= accepted.until) return false;
    return accepted.hadPreflight || skipPreflight;
  }
}
