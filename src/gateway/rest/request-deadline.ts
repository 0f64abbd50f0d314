import { Failure } from '../../protocol/errors.ts';

/** The time that a request has: it is over when the caller leaves, when it was long enough, or when all is done. */
export class RequestDeadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #disconnected: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #onDisconnect = (): void => this.#controller.abort(new Failure('CLIENT_GONE'));

  /** @param leaving - aborted when the caller leaves. */
  constructor(maxMs: number, disconnected: AbortSignal) {
    this.#disconnected = disconnected;
    this.#timer = setTimeout(() => this.#controller.abort(new Failure('UPSTREAM_TIMEOUT')), maxMs);
    if (disconnected.aborted) this.#onDisconnect();
    else disconnected.addEventListener('abort', this.#onDisconnect, { once: true });
  }

  /** Aborted, with a Failure as its reason, when the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What failed because its time was over says so, whatever it was that was cut short. */
  reasonOf(thrown: unknown): unknown {
    return this.#controller.signal.aborted ? this.#controller.signal.reason : thrown;
  }

  /** All is done: what nobody waits for any more ends. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#disconnected.removeEventListener('abort', this.#onDisconnect);
    this.#onDisconnect();
  }
}
