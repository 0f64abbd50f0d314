export type PerKeySemaphoreLimits = Readonly<{
  /** Permits across all keys. */
  permitsMax: number;
  /** Permits per key. */
  keyPermitsMax: number;
  /** Waiters across all keys. */
  waitingMax: number;
  /** Waiters per key. */
  keyWaitingMax: number;
  /** Maximum wait in milliseconds; null: unlimited. */
  waitMs: number | null;
}>;

type Waiter = () => void;

type KeyQueue = { readonly key: string; readonly waiting: Set<Waiter>; inUse: number };

/** Semaphore with a total limit and a limit per key. Keys with waiters are served round-robin. */
export class PerKeySemaphore {
  readonly #limits: PerKeySemaphoreLimits;
  readonly #queues = new Map<string, KeyQueue>();
  /** Queues with waiters, in the order in which they are served. */
  readonly #waitingQueues = new Set<KeyQueue>();
  #inUse = 0;
  #waiting = 0;

  constructor(limits: PerKeySemaphoreLimits) {
    this.#limits = limits;
  }

  get inUse(): number {
    return this.#inUse;
  }

  /** Never rejects. @returns false if the queue is full, the wait times out or the signal is aborted. */
  async acquire(key: string, signal: AbortSignal | null = null): Promise<boolean> {
    if (signal?.aborted) return false;
    const queue = this.#queues.get(key) ?? { key, waiting: new Set(), inUse: 0 };
    if (this.#hasPermit(queue)) {
      this.#grant(queue);
      return true;
    }
    return this.#mayWait(queue) && (await this.#wait(queue, signal));
  }

  release(key: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined || queue.inUse === 0) throw new RangeError('permit released twice');
    queue.inUse--;
    this.#inUse--;
    const next = [...this.#waitingQueues].find((one) => this.#hasPermit(one));
    const [proceed] = next?.waiting ?? [];
    proceed?.();
    this.#removeIdle(queue);
  }

  #hasPermit(queue: KeyQueue): boolean {
    return this.#inUse < this.#limits.permitsMax && queue.inUse < this.#limits.keyPermitsMax;
  }

  #mayWait(queue: KeyQueue): boolean {
    const { waitingMax, keyWaitingMax } = this.#limits;
    return this.#waiting < waitingMax && queue.waiting.size < keyWaitingMax;
  }

  #grant(queue: KeyQueue): void {
    this.#queues.set(queue.key, queue);
    queue.inUse++;
    this.#inUse++;
  }

  #removeIdle(queue: KeyQueue): void {
    if (queue.inUse === 0 && queue.waiting.size === 0) this.#queues.delete(queue.key);
  }

  #wait(queue: KeyQueue, signal: AbortSignal | null): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = (): void => {
        this.#dequeue(queue, proceed);
        if (timer !== null) clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
      };
      const giveUp = (): void => {
        stop();
        this.#removeIdle(queue);
        resolve(false);
      };
      const proceed = (): void => {
        stop();
        // Takes the permit at once, before a new caller can.
        this.#grant(queue);
        this.#rotate(queue);
        resolve(true);
      };
      const { waitMs } = this.#limits;
      const timer = waitMs === null ? null : setTimeout(giveUp, waitMs);
      this.#enqueue(queue, proceed);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  #enqueue(queue: KeyQueue, waiter: Waiter): void {
    this.#queues.set(queue.key, queue);
    queue.waiting.add(waiter);
    this.#waiting++;
    this.#waitingQueues.add(queue);
  }

  #dequeue(queue: KeyQueue, waiter: Waiter): void {
    queue.waiting.delete(waiter);
    this.#waiting--;
    if (queue.waiting.size === 0) this.#waitingQueues.delete(queue);
  }

  #rotate(queue: KeyQueue): void {
    if (this.#waitingQueues.delete(queue)) this.#waitingQueues.add(queue);
  }
}
