export type CallQueueOptions = Readonly<{
  callsInFlightMax: number;
  /** Maximum number of waiting calls per connection; further calls get OVERLOADED. */
  callsWaitingMax: number;
  callsWaitingMaxBytes: number;
}>;

type Waiting = Readonly<{ bytes: number; admit: (isAdmitted: boolean) => void }>;

/** Calls of one connection: a limited number in flight, the rest waiting in order. */
export class CallQueue {
  readonly #options: CallQueueOptions;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #inFlight = 0;

  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  /** @returns whether the call may start; if it must wait, a promise, which resolves to false if the queue closes. */
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

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#inFlight -= 1;
      return;
    }
    this.#waitingBytes -= next.bytes;
    next.admit(true);
  }

  close(): void {
    for (const { admit } of this.#waiting.splice(0)) admit(false);
    this.#waitingBytes = 0;
  }
}

/** Limits the number of calls in flight across all connections. */
export class CallConcurrencyLimit {
  readonly #max: number;
  #inUse = 0;

  constructor(max: number) {
    this.#max = max;
  }

  tryAcquire(): boolean {
    if (this.#inUse >= this.#max) return false;
    this.#inUse += 1;
    return true;
  }

  release(): void {
    this.#inUse -= 1;
  }
}
