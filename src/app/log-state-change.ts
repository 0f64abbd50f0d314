import type { Logger } from '../base/log.ts';
import { errorText } from './error-text.ts';

/** Logs a failure, and the recovery when called with null. */
export const logStateChange =
  (log: Logger, failing: string, working: string, textOf = errorText) =>
  (error: unknown): void => {
    if (error === null) log.info(working);
    else log.warn({ reason: textOf(error) }, failing);
  };
