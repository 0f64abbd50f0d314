import type { Update } from '../../../protocol/geyser/update/decode-update.ts';

/** `at`: when the server created the update or, if unknown, when it arrived, in Unix milliseconds. */
export type QueuedUpdate = Readonly<{ update: Update; at: bigint }>;

type MintQueueOptions = Readonly<{
  /** If more updates than this are queued, all are emitted without waiting. */
  queueMax: number;
  emit: (queued: QueuedUpdate) => void;
  /** Fetches data that the update needs; null if there is nothing to wait for. The promise must not reject. */
  prefetch: (queued: QueuedUpdate) => Promise<void> | null;
}>;

/** Emits updates in order. Waits at an update whose mint must be fetched first. */
export class MintQueue {
  readonly #options: MintQueueOptions;
  #queue: QueuedUpdate[] = [];
  #fetch: object | null = null;

  constructor(options: MintQueueOptions) {
    this.#options = options;
  }

  push(queued: QueuedUpdate): void {
    this.#queue.push(queued);
    if (this.#queue.length > this.#options.queueMax) this.#emitAll();
    else if (this.#fetch === null) this.#drain();
  }

  clear(): void {
    this.#queue = [];
    this.#fetch = null;
  }

  #drain(): void {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const fetched = this.#options.prefetch(next);
      if (fetched !== null) {
        this.#wait(fetched);
        return;
      }
      this.#queue.shift();
      this.#options.emit(next);
    }
  }

  #wait(fetched: Promise<void>): void {
    const fetch = {};
    this.#fetch = fetch;
    void fetched.then(() => {
      if (this.#fetch !== fetch) return;
      this.#fetch = null;
      const next = this.#queue.shift();
      if (next !== undefined) this.#options.emit(next);
      this.#drain();
    });
  }

  #emitAll(): void {
    this.#fetch = null;
    const queue = this.#queue;
    this.#queue = [];
    for (const queued of queue) this.#options.emit(queued);
  }
}
