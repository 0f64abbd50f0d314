import { PerKeySemaphore } from '../../../base/concurrency/per-key-semaphore.ts';
import { ApiError } from '../api-error.ts';

const concurrency = { permitsMax: 4, keyPermitsMax: 1, waitingMax: 100, keyWaitingMax: 10, waitMs: 30_000 };

/**
 * Returns a function that limits reads of many statements: each owner gets one at a time.
 * @param names - what is read, in the plural. The function throws ApiError 429 if too many wait.
 */
export function limitReads(names: string) {
  const running = new PerKeySemaphore(concurrency);
  return async <Result>(owner: string, read: () => Promise<Result>): Promise<Result> => {
    if (!(await running.acquire(owner))) {
      const message = `Too many concurrent ${names}. Retry after the Retry-After header.`;
      throw new ApiError(429, 'RATE_LIMITED', message, { retryAfter: 5 });
    }
    try {
      return await read();
    } finally {
      running.release(owner);
    }
  };
}
