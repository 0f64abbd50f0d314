export type PipeliningOption = number | 'auto';

const AUTO_MAX = 8;
/** Number of prompt, full batches after which the limit doubles. */
const PROMPT_BATCHES = 64;
/** More than one slow batch in this many halves the limit. */
const SLOW_BATCH_COST = 32;
/** Maximum latency of a prompt response. */
const PROMPT_MS = 150;
/** Maximum time between the first and last response of a prompt batch; a quarter of the first latency if longer. */
const SPREAD_MS = 1;
/** A fault within this time after a pause counts as repeated. */
const REPEATED_MS = 60_000;
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 300_000;

/**
 * Limits the requests in flight per connection to one node. The limit starts at 1 and doubles while the node responds
 * promptly. Only requests of the same turn of the event loop share a connection.
 * Times are on the `performance.now()` clock.
 */
export class Pipelining {
  readonly #max: number;
  limit = 1;
  #promptBatches = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;

  constructor(option: PipeliningOption) {
    this.#max = option === 'auto' ? AUTO_MAX : option;
  }

  /** @param spreadMs - time between the first and the last response. */
  onBatch(size: number, firstMs: number, spreadMs: number, now: number): void {
    if (firstMs > PROMPT_MS || spreadMs > Math.max(SPREAD_MS, firstMs / 4)) {
      this.#promptBatches -= SLOW_BATCH_COST;
      if (this.#promptBatches < 0) this.#lower(Math.max(1, this.limit / 2));
    } else if (size >= this.limit && this.#promptBatches < PROMPT_BATCHES) this.#promptBatches++;
    else if (size >= this.limit && this.limit < this.#max && now >= this.#pausedUntil) {
      this.limit = Math.min(2 * this.limit, this.#max);
      this.#promptBatches = 0;
    }
  }

  /** A response took so long that the requests behind it were sent again. */
  onLate(): void {
    this.#lower(1);
  }

  /** A response was invalid or a connection was lost while other requests waited behind it. */
  onFault(now: number): void {
    if (this.limit === 1) return;
    const isRepeated = now < this.#pausedUntil + REPEATED_MS;
    this.#pauseMs = isRepeated ? Math.min(2 * this.#pauseMs, PAUSE_MAX_MS) : PAUSE_MIN_MS;
    this.#pausedUntil = now + this.#pauseMs;
    this.#lower(1);
  }

  #lower(limit: number): void {
    this.limit = limit;
    this.#promptBatches = 0;
  }
}
