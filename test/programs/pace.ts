import { setTimeout as sleep } from 'node:timers/promises';

const TICK_MS = 10;
const POLL_MS = 25;

export type PaceOptions = Readonly<{
  perSecond: number;
  /** Further requests are skipped. */
  inFlightMax: number;
  /** Never rejects. */
  act: () => Promise<void>;
}>;

/**
 * Open-loop load: starts requests at a constant rate, whether or not earlier ones have ended. A closed loop would send
 * fewer requests to a slow service and so underestimate latency.
 */
export class Pace {
  /** Requests that were not sent: too many in flight. */
  skipped = 0;
  readonly #options: PaceOptions;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  #started = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#startDue(), TICK_MS);
  }

  /** Starts no more requests and waits for those in flight. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#inFlight);
  }

  #startDue(): void {
    const { perSecond, inFlightMax, act } = this.#options;
    const due = Math.floor(((performance.now() - this.#startedAt) / 1_000) * perSecond);
    for (; this.#started < due; this.#started++) {
      if (this.#inFlight.size >= inFlightMax) {
        this.skipped++;
        continue;
      }
      const done = act();
      this.#inFlight.add(done);
      void done.then(() => this.#inFlight.delete(done));
    }
  }
}

export async function waitUntil(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(POLL_MS);
}
