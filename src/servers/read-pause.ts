type Readable = Readonly<{ pause(): void; resume(): void }>;

/** Pauses reading from a client that sends too fast; backpressure then acts through TCP. */
export class ReadPause {
  readonly #socket: Readable;
  #untilMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(socket: Readable) {
    this.#socket = socket;
  }

  get isPaused(): boolean {
    return this.#timer !== null;
  }

  /** Pauses until a time of `performance.now()`, or longer if it is paused for longer already. */
  extend(untilMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, untilMs);
    if (this.#timer !== null) return;
    this.#socket.pause();
    this.#schedule();
  }

  resume(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#socket.resume();
  }

  #schedule(): void {
    // The time may have passed; Node warns about negative timeouts.
    const remainingMs = Math.max(0, this.#untilMs - performance.now());
    this.#timer = setTimeout(
      () => (performance.now() < this.#untilMs ? this.#schedule() : this.resume()),
      remainingMs,
    );
  }
}
