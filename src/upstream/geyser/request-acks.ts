/** No server heard of a request in time. */
export class AckTimeout extends Error {
  override readonly name = 'AckTimeout';
}

/** A server refuses a request. */
class RequestRejected extends Error {
  override readonly name = 'RequestRejected';
}

/** Milliseconds. */
type AckTimeouts = Readonly<{ ackTimeoutMs: number; openTimeoutMs: number }>;

type Waiter = {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  /** The ping that follows the request it waits for; 0 while that is not sent. */
  id: number;
};

/** Of ours; 1 answers the server's pings. */
const FIRST_ID = 2;
const ID_MAX = 2 ** 30;

/**
 * Who waits until a server has heard what is wanted now. Geyser acknowledges no request; the ping that is sent
 * behind it is answered, and where it is not, some time must do.
 */
export class RequestAcks {
  readonly #limits: AckTimeouts;
  readonly #waiters = new Set<Waiter>();
  #id = FIRST_ID;
  #markOpen = false;
  #silenceTimer: NodeJS.Timeout | null = null;

  constructor(limits: AckTimeouts) {
    this.#limits = limits;
  }

  /** Waits for the next request. @throws AckTimeout, RequestRefused */
  wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(waiter, new AckTimeout()), this.#limits.openTimeoutMs);
      const waiter: Waiter = { resolve, reject, timer, id: 0 };
      this.#waiters.add(waiter);
    });
  }

  /** A request goes out. @returns the id of the ping to send behind it. */
  startRequest(): number {
    this.#id = this.#id === ID_MAX ? FIRST_ID : this.#id + 1;
    for (const waiter of this.#waiters) if (waiter.id === 0) waiter.id = this.#id;
    if (this.#markOpen) this.#startSilenceTimer();
    return this.#id;
  }

  /** The server accepted the stream: from now on, silence says yes. */
  markOpen(): void {
    this.#markOpen = true;
    this.#startSilenceTimer();
  }

  acknowledge(id: number): void {
    for (const waiter of this.#waiters) if (waiter.id !== 0 && waiter.id <= id) this.#settle(waiter, null);
  }

  /** The stream is gone: the next one asks again. */
  reset(): void {
    this.#markOpen = false;
    this.#stopSilenceTimer();
    for (const waiter of this.#waiters) waiter.id = 0;
  }

  /** A server refuses the newest request. @returns whether anybody waited for it. */
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
