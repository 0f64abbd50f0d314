import { ApiError } from '../api/api-error.ts';

/** More passwords are to be hashed than wait for it. */
export const passwordHashQueueFull = (): ApiError =>
  new ApiError(503, 'OVERLOADED', 'too many are signing in: try again soon', { retryAfter: 5 });

/**
 * Turns at hashing passwords, which is made to be dear: a flood of log-ins must leave cores and memory to the others.
 */
export class PasswordHashQueue {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ hashesMax, hashesWaitingMax }: { hashesMax: number; hashesWaitingMax: number }) {
    this.#max = hashesMax;
    this.#waitingMax = hashesWaitingMax;
  }

  /** @throws ApiError 503 when too many wait already. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#max) await this.#waitForSlot();
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #waitForSlot(): Promise<void> {
    if (this.#waiting.length >= this.#waitingMax) throw passwordHashQueueFull();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
