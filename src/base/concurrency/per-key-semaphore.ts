/** How many places there are, and who may wait for one. */
export type PerKeySemaphoreLimits = Readonly<{
  /** Places in all. */
  permitsMax: number;
  /** Places of one owner. */
  keyPermitsMax: number;
  /** Those that wait, in all. */
  waitingMax: number;
  /** Those of one owner. */
  keyWaitingMax: number;
  /** How long one waits, in milliseconds; null for as long as it takes. */
  waitMs: number | null;
}>;

type Waiter = Readonly<{ proceed(): void }>;

/** An owner who has places, or waits for some. */
type KeyQueue = { readonly key: string; readonly waiting: Set<Waiter>; inUse: number };

/** Places for work that takes its time: so many in all, fewer for each owner. Owners who wait take turns. */
export class PerKeySemaphore {
  readonly #limits: PerKeySemaphoreLimits;
  readonly #queues = new Map<string, KeyQueue>();
  /** Lanes in which somebody waits; the first has waited for its turn longest. */
  readonly #waitingQueues = new Set<KeyQueue>();
  #inUse = 0;
  #waiting = 0;

  constructor(limits: PerKeySemaphoreLimits) {
    this.#limits = limits;
  }

  /** Places that are taken. */
  get inUse(): number {
    return this.#inUse;
  }

  /**
   * Takes a place, or waits for one. Never rejects.
   * @returns whether it was had; if not, too many wait, none became free in time, or the signal is aborted.
   */
  async acquire(key: string, signal: AbortSignal | null = null): Promise<boolean> {
    if (signal?.aborted) return false;
    const queue = this.#queues.get(key) ?? { key, waiting: new Set(), inUse: 0 };
    if (this.#hasPermit(queue)) {
      this.#grant(queue);
      return true;
    }
    return this.#mayWait(queue) && (await this.#wait(queue, signal));
  }

  /** Gives back a place that `take` gave. */
  release(key: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined || queue.inUse === 0) throw new RangeError('a place was given back twice');
    queue.inUse--;
    this.#inUse--;
    const next = [...this.#waitingQueues].find((one) => this.#hasPermit(one));
    const [waiter] = next?.waiting ?? [];
    waiter?.proceed();
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
        this.#dequeue(queue, waiter);
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
        // At once: nobody may take it before whoever waits runs.
        this.#grant(queue);
        this.#rotate(queue);
        resolve(true);
      };
      const { waitMs } = this.#limits;
      const timer = waitMs === null ? null : setTimeout(giveUp, waitMs);
      const waiter: Waiter = { proceed };
      this.#enqueue(queue, waiter);
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

  /** Whose turn it was goes behind the others. */
  #rotate(queue: KeyQueue): void {
    if (this.#waitingQueues.delete(queue)) this.#waitingQueues.add(queue);
  }
}
