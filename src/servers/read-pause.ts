/** What can be read from, or not for a while. */
type Readable = Readonly<{ pause(): void; resume(): void }>;

/** A pause in reading from a client that sends too fast: it waits in the network, and takes no memory here. */
export class ReadPause {
  readonly #socket: Readable;
  #untilMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(socket: Readable) {
    this.#socket = socket;
  }

  /** Whether nothing is read now. */
  get isPaused(): boolean {
    return this.#timer !== null;
  }

  /** Reads nothing before that time of `performance.now()`. */
  extend(untilMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, untilMs);
    if (this.#timer !== null) return;
    this.#socket.pause();
    this.#schedule();
  }

  /** Reads on at once. */
  resume(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#socket.resume();
  }

  #schedule(): void {
    // Its time may be over already; Node would warn of a timer that is set below 0.
    const remainingMs = Math.max(0, this.#untilMs - performance.now());
    this.#timer = setTimeout(
      () => (performance.now() < this.#untilMs ? this.#schedule() : this.resume()),
      remainingMs,
    );
  }
}
