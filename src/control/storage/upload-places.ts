import { Failure } from '../../protocol/errors.ts';
import type { StorageLimits } from './limits.ts';

type Waiting = Readonly<{ ownerId: string; go(): void }>;

/** Places for files that are coming: some in all, fewer for each owner. Others wait, in the order they came. */
export class UploadPlaces {
  readonly #limits: StorageLimits;
  /** Places that are taken, by owner. */
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #takenInAll = 0;

  constructor(limits: StorageLimits) {
    this.#limits = limits;
  }

  /** Places that are taken. */
  get taken(): number {
    return this.#takenInAll;
  }

  /**
   * Takes a place, or waits for one.
   * @throws Failure OVERLOADED when too many wait, or none became free in time; CLIENT_GONE when the signal is aborted.
   */
  async take(ownerId: string, signal: AbortSignal): Promise<void> {
    if (this.#isFree(ownerId)) this.#give(ownerId);
    else await this.#wait(ownerId, signal);
  }

  /** Gives back a place that `take` gave. */
  giveBack(ownerId: string): void {
    const own = (this.#taken.get(ownerId) ?? 1) - 1;
    if (own === 0) this.#taken.delete(ownerId);
    else this.#taken.set(ownerId, own);
    this.#takenInAll--;
    const [next] = [...this.#waiting].filter((one) => this.#isFree(one.ownerId));
    next?.go();
  }

  #isFree(ownerId: string): boolean {
    const { uploadsMax, uploadsPerOwnerMax } = this.#limits;
    return this.#takenInAll < uploadsMax && (this.#taken.get(ownerId) ?? 0) < uploadsPerOwnerMax;
  }

  #give(ownerId: string): void {
    this.#taken.set(ownerId, (this.#taken.get(ownerId) ?? 0) + 1);
    this.#takenInAll++;
  }

  #wait(ownerId: string, signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#limits.uploadsWaitingMax) throw new Failure('OVERLOADED');
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
      };
      const leave = (): void => {
        stop();
        reject(new Failure('CLIENT_GONE'));
      };
      const go = (): void => {
        stop();
        // At once: nobody may take it before whoever waits runs.
        this.#give(ownerId);
        resolve();
      };
      const timer = setTimeout(() => {
        stop();
        reject(new Failure('OVERLOADED'));
      }, this.#limits.uploadsWaitMs);
      const waiting: Waiting = { ownerId, go };
      this.#waiting.add(waiting);
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    });
  }
}
