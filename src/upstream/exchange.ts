import type { Dispatcher, Pool } from 'undici';

/** What one HTTP request came to. Never rejects: a failure is an outcome like any other. */
export type Exchange = Readonly<
  | { kind: 'response'; status: number; retryAfter: string | null; body: Buffer }
  | { kind: 'too-large' }
  | { kind: 'transport'; bytesLeft: boolean; timedOut: boolean; cause: unknown }
  | { kind: 'aborted'; bytesLeft: boolean }
>;

export type ExchangeOptions = Readonly<{
  path: string;
  /** Names and values in turn, as they go out. */
  headers: readonly string[];
  body: Buffer;
  /** From now until the last byte of the answer. */
  timeoutMs: number;
  answerMaxBytes: number;
}>;

/** Hears what a request came to, once; maybe before it was returned. Must not throw. */
export interface ExchangeSink {
  exchanged(exchange: Exchange): void;
}

/** A request that is under way. */
export interface Posted {
  /** Ends it, if it has not ended: it came to `aborted`. */
  abort(): void;
}

type Stop = 'timeout' | 'aborted' | 'too-large';

/** One POST under way. A class because undici's handler is state and callbacks. */
class Post implements Dispatcher.DispatchHandler, Posted {
  readonly #sink: ExchangeSink;
  readonly #options: ExchangeOptions;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #status = 0;
  #retryAfter: string | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(options: ExchangeOptions, sink: ExchangeSink) {
    this.#options = options;
    this.#sink = sink;
    this.#timer = setTimeout(() => this.#stop('timeout'), options.timeoutMs);
  }

  abort(): void {
    this.#stop('aborted');
  }

  /** Called right before the head is written. A second call would be a silent repetition: never allowed. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    const repeated = this.#controller !== null;
    this.#controller = controller;
    if (repeated || this.#settled) controller.abort(new Error('no longer wanted'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    const header = headers['retry-after'];
    this.#retryAfter = typeof header === 'string' ? header : null;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.answerMaxBytes) this.#stop('too-large');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#bytes);
    this.#settle({ kind: 'response', status: this.#status, retryAfter: this.#retryAfter, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    this.fail(cause);
  }

  fail(cause: unknown): void {
    this.#settle({ kind: 'transport', bytesLeft: this.#controller !== null, timedOut: false, cause });
  }

  #stop(why: Stop): void {
    const bytesLeft = this.#controller !== null;
    if (why === 'too-large') this.#settle({ kind: 'too-large' });
    else if (why === 'aborted') this.#settle({ kind: 'aborted', bytesLeft });
    else this.#settle({ kind: 'transport', bytesLeft, timedOut: true, cause: null });
    this.#controller?.abort(new Error(why));
  }

  #settle(exchange: Exchange): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#chunks = [];
    this.#sink.exchanged(exchange);
  }
}

/** One POST over the pool, within its time and size. */
export function exchange(pool: Pool, options: ExchangeOptions, sink: ExchangeSink): Posted {
  const { path, headers, body } = options;
  const post = new Post(options, sink);
  try {
    pool.dispatch({ method: 'POST', path, headers: headers as string[], body }, post);
  } catch (cause) {
    post.fail(cause);
  }
  return post;
}
