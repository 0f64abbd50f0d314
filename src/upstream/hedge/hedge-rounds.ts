/** A call that waits for a node, and may be put to a second one. The links are those of the rounds alone. */
export interface Hedgeable {
  earlier: Hedgeable | null;
  later: Hedgeable | null;
  /** Looks whether it has waited long enough. */
  look(now: number): void;
}

/** How exact a hedge is in time; far below the least that is waited for. */
const ROUND_MS = 20;
/** So many rounds without anybody, and there are none until somebody comes. */
const IDLE_ROUNDS_MAX = 50;

/**
 * Looks at all calls that are under way, all together and fifty times a second: a timer for each would cost every
 * call what only few need.
 */
export class HedgeRounds {
  #newest: Hedgeable | null = null;
  #timer: NodeJS.Timeout | null = null;
  #idleRounds = 0;

  add(call: Hedgeable): void {
    call.earlier = this.#newest;
    if (this.#newest !== null) this.#newest.later = call;
    this.#newest = call;
    this.#timer ??= setInterval(() => this.#round(), ROUND_MS).unref();
  }

  /** Does no harm where it is not there any more. */
  remove(call: Hedgeable): void {
    if (call.later !== null) call.later.earlier = call.earlier;
    else if (this.#newest === call) this.#newest = call.earlier;
    if (call.earlier !== null) call.earlier.later = call.later;
    call.earlier = null;
    call.later = null;
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #round(): void {
    this.#idleRounds = this.#newest === null ? this.#idleRounds + 1 : 0;
    if (this.#idleRounds > IDLE_ROUNDS_MAX) this.stop();
    const now = performance.now();
    let call = this.#newest;
    while (call !== null) {
      // It may leave while it looks.
      const { earlier } = call;
      call.look(now);
      call = earlier;
    }
  }
}
