import { Failure } from '../../protocol/errors.ts';

/** The time that a request has: it is over when the caller leaves, when it was long enough, or when all is done. */
export class RequestTime implements Disposable {
  readonly #end = new AbortController();
  readonly #leaving: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #leave = (): void => this.#end.abort(new Failure('CLIENT_GONE'));

  /** @param leaving - aborted when the caller leaves. */
  constructor(longestMs: number, leaving: AbortSignal) {
    this.#leaving = leaving;
    this.#timer = setTimeout(() => this.#end.abort(new Failure('UPSTREAM_TIMEOUT')), longestMs);
    if (leaving.aborted) this.#leave();
    else leaving.addEventListener('abort', this.#leave, { once: true });
  }

  /** Aborted, with a Failure as its reason, when the time is over. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** What failed because its time was over says so, whatever it was that was cut short. */
  reasonOf(thrown: unknown): unknown {
    return this.#end.signal.aborted ? this.#end.signal.reason : thrown;
  }

  /** All is done: what nobody waits for any more ends. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#leaving.removeEventListener('abort', this.#leave);
    this.#leave();
  }
}
