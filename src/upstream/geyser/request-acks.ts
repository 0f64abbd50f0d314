export class AckTimeout extends Error {
  override readonly name = 'AckTimeout';
}

class RequestRejected extends Error {
  override readonly name = 'RequestRejected';
}

type AckTimeouts = Readonly<{ ackTimeoutMs: number; openTimeoutMs: number }>;

type Waiter = {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  /** Id of the ping that follows the request; 0 until the request is sent. */
  id: number;
};

const FIRST_ID = 2;
const ID_MAX = 2 ** 30;

/** Geyser sends no acknowledgements, so a ping follows each request. A pong, or no answer in time, means acceptance. */
export class RequestAcks {
  readonly #limits: AckTimeouts;
  readonly #waiters = new Set<Waiter>();
  #id = FIRST_ID;
  #isOpen = false;
  #silenceTimer: NodeJS.Timeout | null = null;

  constructor(limits: AckTimeouts) {
    this.#limits = limits;
  }

  /** Waits until the next request is accepted. @throws AckTimeout, RequestRejected */
  wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(waiter, new AckTimeout()), this.#limits.openTimeoutMs);
      const waiter: Waiter = { resolve, reject, timer, id: 0 };
      this.#waiters.add(waiter);
    });
  }

  startRequest(): number {
    this.#id = this.#id === ID_MAX ? FIRST_ID : this.#id + 1;
    for (const waiter of this.#waiters) if (waiter.id === 0) waiter.id = this.#id;
    if (this.#isOpen) this.#startSilenceTimer();
    return this.#id;
  }

  /** From now on, no answer within `ackTimeoutMs` means acceptance. */
  markOpen(): void {
    this.#isOpen = true;
    this.#startSilenceTimer();
  }

  acknowledge(id: number): void {
    for (const waiter of this.#waiters) if (waiter.id !== 0 && waiter.id <= id) this.#settle(waiter, null);
  }

  /** Call when the stream has ended. Waiters then wait for the next request. */
  reset(): void {
    this.#isOpen = false;
    this.#stopSilenceTimer();
    for (const waiter of this.#waiters) waiter.id = 0;
  }

  /** Rejects all waiters. @returns whether there were any. */
  reject(): boolean {
    const wasAwaited = this.#waiters.size > 0;
    for (const waiter of this.#waiters) this.#settle(waiter, new RequestRejected());
    return wasAwaited;
  }

  giveUp(): void {
    this.reset();
    for (const waiter of this.#waiters) this.#settle(waiter, new AckTimeout());
  }

  #startSilenceTimer(): void {
    this.#stopSilenceTimer();
    this.#silenceTimer = setTimeout(() => this.acknowledge(this.#id), this.#limits.ackTimeoutMs);
  }

  #stopSilenceTimer(): void {
    if (this.#silenceTimer !== null) clearTimeout(this.#silenceTimer);
    this.#silenceTimer = null;
  }

  #settle(waiter: Waiter, error: Error | null): void {
    if (!this.#waiters.delete(waiter)) return;
    clearTimeout(waiter.timer);
    if (error === null) waiter.resolve();
    else waiter.reject(error);
  }
}
