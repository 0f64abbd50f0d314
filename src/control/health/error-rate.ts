/** Running totals since process start. `failed`: failures caused by the service or its nodes. */
export type RequestTotals = Readonly<{ total: number; failed: number }>;

type Sample = RequestTotals & Readonly<{ at: number }>;

const SAMPLE_INTERVAL_MS = 1_000;

/** Requests and failures in a sliding window, from running totals. */
export class ErrorRate {
  readonly #windowMs: number;
  /** Oldest first. The first sample is the newest that is at least as old as the window. */
  #samples: Sample[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** @param now - monotonic milliseconds. */
  update(totals: RequestTotals, now: number): RequestTotals {
    const last = this.#samples.at(-1);
    if (last === undefined || now - last.at >= SAMPLE_INTERVAL_MS) this.#samples.push({ ...totals, at: now });
    while ((this.#samples[1]?.at ?? now) <= now - this.#windowMs) this.#samples.shift();
    const first = this.#samples[0] ?? totals;
    return { total: totals.total - first.total, failed: totals.failed - first.failed };
  }
}
