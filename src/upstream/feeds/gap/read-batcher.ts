import { Semaphore } from '../../../base/concurrency/semaphore.ts';

/** Reads many things with one question. @returns as many results, in the same order. */
export type ReadMany<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

export type ReadBatcherOptions<Item, Result> = Readonly<{
  /** Items of one question. */
  itemsMax: number;
  /** Questions at a time. */
  requestsMax: number;
  /** Whether fewer items at once may well be answered. */
  isTooLarge: (fault: unknown) => boolean;
  read: ReadMany<Item, Result>;
}>;

/** How long items gather: those who wait for the same slot come within one turn or a few. */
const GATHER_MS = 5;

type PendingRead<Item, Result> = Readonly<{
  item: Item;
  resolve: (result: Result) => void;
  reject: (fault: unknown) => void;
}>;

/** Puts what is asked for at the same time into one question. */
export class ReadBatcher<Item, Result> {
  readonly #options: ReadBatcherOptions<Item, Result>;
  readonly #requestSemaphore: Semaphore;
  #pending: PendingRead<Item, Result>[] = [];

  constructor(options: ReadBatcherOptions<Item, Result>) {
    this.#options = options;
    this.#requestSemaphore = new Semaphore(options.requestsMax);
  }

  /** @throws whatever `read` throws. */
  read(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) setTimeout(() => this.#flush(), GATHER_MS);
      this.#pending.push({ item, resolve, reject });
      if (this.#pending.length === this.#options.itemsMax) this.#flush();
    });
  }

  #flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length > 0) void this.#requestSemaphore.run(() => this.#send(pending));
  }

  async #send(pending: readonly PendingRead<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.read(pending.map(({ item }) => item));
      for (const [at, { resolve, reject }] of pending.entries()) {
        const result = results[at];
        if (result === undefined) reject(new Error('an answer is too short'));
        else resolve(result);
      }
    } catch (fault) {
      if (pending.length > 1 && this.#options.isTooLarge(fault)) {
        const half = Math.ceil(pending.length / 2);
        await this.#send(pending.slice(0, half));
        await this.#send(pending.slice(half));
      } else for (const { reject } of pending) reject(fault);
    }
  }
}
