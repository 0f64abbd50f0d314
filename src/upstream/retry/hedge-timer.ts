/** A call that waits for a node, and may be put to a second one. The links are those of the rounds alone. */
export interface HedgeCandidate {
  previousCandidate: HedgeCandidate | null;
  nextCandidate: HedgeCandidate | null;
  /** Looks whether it has waited long enough. */
  checkHedge(now: number): void;
}

/** How exact a hedge is in time; far below the least that is waited for. */
const TICK_MS = 20;
/** So many rounds without anybody, and there are none until somebody comes. */
const IDLE_TICKS_MAX = 50;

/**
 * Looks at all calls that are under way, all together and fifty times a second: a timer for each would cost every
 * call what only few need.
 */
export class HedgeTimer {
  #newest: HedgeCandidate | null = null;
  #timer: NodeJS.Timeout | null = null;
  #idleTicks = 0;

  add(call: HedgeCandidate): void {
    call.previousCandidate = this.#newest;
    if (this.#newest !== null) this.#newest.nextCandidate = call;
    this.#newest = call;
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Does no harm where it is not there any more. */
  remove(call: HedgeCandidate): void {
    if (call.nextCandidate !== null) call.nextCandidate.previousCandidate = call.previousCandidate;
    else if (this.#newest === call) this.#newest = call.previousCandidate;
    if (call.previousCandidate !== null) call.previousCandidate.nextCandidate = call.nextCandidate;
    call.previousCandidate = null;
    call.nextCandidate = null;
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    this.#idleTicks = this.#newest === null ? this.#idleTicks + 1 : 0;
    if (this.#idleTicks > IDLE_TICKS_MAX) this.stop();
    const now = performance.now();
    let call = this.#newest;
    while (call !== null) {
      // It may leave while it looks.
      const { previousCandidate } = call;
      call.checkHedge(now);
      call = previousCandidate;
    }
  }
}
