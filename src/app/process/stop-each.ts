import type { Logger } from '../../base/log.ts';
import { errorText } from '../error-text.ts';

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

/** Handles an error while parts are stopped after a failed start, whose own error is thrown instead. */
export const logIncompleteShutdown = (log: Logger) => (error: unknown) =>
  log.warn({ reason: errorText(error) }, 'Shutdown incomplete');
