import type { SubmitLimits } from './limits.ts';

/** Transactions that were accepted a moment ago, by network, bytes and the conditions under which they were sent. */
export class RecentSubmissions {
  readonly #limits: Pick<SubmitLimits, 'acceptedMs' | 'acceptedMax'>;
  /** When each ends, in that order. */
  readonly #entries = new Map<string, number>();

  constructor(limits: Pick<SubmitLimits, 'acceptedMs' | 'acceptedMax'>) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  add(name: string): void {
    const { acceptedMs, acceptedMax } = this.#limits;
    const now = performance.now();
    this.#entries.delete(name);
    for (const [old, until] of this.#entries) {
      if (until > now && this.#entries.size < acceptedMax) break;
      this.#entries.delete(old);
    }
    this.#entries.set(name, now + acceptedMs);
  }

  has(name: string): boolean {
    const until = this.#entries.get(name);
    return until !== undefined && performance.now() < until;
  }
}
