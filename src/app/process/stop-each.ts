/** Functions that stop services. */
export type StopFunctions = (() => Promise<unknown>)[];

/** Runs all functions in order, even after an error. @throws the first error; later ones are discarded. */
export async function stopEach(stops: Readonly<StopFunctions>): Promise<void> {
  const errors: unknown[] = [];
  for (const stop of stops) {
    try {
      await stop();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
