import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work before the event loop gets control. */
const TIME_SLICE_MS = 5;

/**
 * Maps items in sequence, yielding to the event loop after each time slice. Results are in the order of the
 * items.
 */
export async function mapTimeSliced<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let startedAt = performance.now();
  for (const item of items) {
    if (performance.now() - startedAt >= TIME_SLICE_MS) {
      await setImmediate();
      startedAt = performance.now();
    }
    results.push(work(item));
  }
  return results;
}
