import { setImmediate } from 'node:timers/promises';

/** How long work goes on before others have their turn, in milliseconds. Several lists may be worked on at once. */
const TIME_SLICE_MS = 5;

/**
 * The results of work on each item, one after the other and in their order. However many there are, others have their
 * turn every few milliseconds, so that one large list does not hold up the process.
 * @throws what the work throws; no item behind is worked on then.
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
