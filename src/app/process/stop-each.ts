import type { Logger } from '../../base/log.ts';
import { errorText } from '../error-text.ts';

/** Functions that stop services. */
export type StopFunctions = (() => Promise<unknown>)[];

/** Runs all functions in order, even after an error. @throws the first error; later errors are discarded. */
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

/** Logs an error that occurs while a failed start is cleaned up. The caller throws the error of the start instead. */
export const logIncompleteShutdown = (log: Logger) => (error: unknown) =>
  log.warn({ reason: errorText(error) }, 'Shutdown incomplete');
