import { ApiError } from '../api-error.ts';

/** What says that there is no right any more; others say that it cannot be known now. */
const refusals: readonly number[] = [401, 403, 404];

/**
 * Looks again and again whether an answer that goes on may still go on, one look after the other.
 * @param check - throws an ApiError with 401, 403 or 404 when it may not. Whatever else it throws, it is asked again.
 * @param onRefused - called once; nothing is looked at any more.
 * @returns what ends the looks.
 */
export function recheck(check: () => Promise<void>, everyMs: number, onRefused: () => void): () => void {
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  const runCheck = async (): Promise<void> => {
    try {
      await check();
    } catch (thrown) {
      if (!isOver && thrown instanceof ApiError && refusals.includes(thrown.status)) {
        isOver = true;
        onRefused();
      }
    }
    if (!isOver) wait();
  };
  const wait = (): void => {
    timer = setTimeout(() => void runCheck(), everyMs).unref();
  };
  wait();
  return () => {
    isOver = true;
    if (timer !== null) clearTimeout(timer);
  };
}
