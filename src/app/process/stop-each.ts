/** Functions that stop services. */
export type Stops = (() => Promise<unknown>)[];

/** Runs all functions in order, even after a failure. @throws the first failure. */
export async function stopEach(stops: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const stop of stops) {
    try {
      await stop();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
