export type CallQueueOptions = Readonly<{
  /** Calls of one connection that are answered at a time; others wait in line. */
  callsInFlightMax: number;
  /** Calls of one connection that wait; beyond them a call gets OVERLOADED. */
  callsWaitingMax: number;
  /** Bytes of the calls that wait. */
  callsWaitingMaxBytes: number;
}>;

type Waiting = Readonly<{ bytes: number; admit: (isAdmitted: boolean) => void }>;

/** The calls of one connection: so many under way, and a line of those that wait for their turn. */
export class CallQueue {
  readonly #options: CallQueueOptions;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #inFlight = 0;

  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  /**
   * Takes a place, which is given back with `leave`.
   * @param bytes - of the call, which is held while it waits.
   * @returns whether there is one, or even room to wait for one: then the promise tells whether it came to that.
   */
  acquire(bytes: number): boolean | Promise<boolean> {
    const { callsInFlightMax, callsWaitingMax, callsWaitingMaxBytes } = this.#options;
    if (this.#inFlight < callsInFlightMax) {
      this.#inFlight += 1;
      return true;
    }
    if (this.#waiting.length >= callsWaitingMax) return false;
    if (this.#waitingBytes + bytes > callsWaitingMaxBytes) return false;
    this.#waitingBytes += bytes;
    return new Promise((admit) => this.#waiting.push({ bytes, admit }));
  }

  /** Passes the place on to whoever waits longest. */
  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#inFlight -= 1;
      return;
    }
    this.#waitingBytes -= next.bytes;
    next.admit(true);
  }

  /** Sends away all who wait. */
  close(): void {
    for (const { admit } of this.#waiting.splice(0)) admit(false);
    this.#waitingBytes = 0;
  }
}
