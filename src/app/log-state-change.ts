import type { Logger } from '../base/log.ts';
import { errorText } from './error-text.ts';

/** Returns a function that logs the error as a failure, or the recovery if the error is null. */
export const logStateChange =
  (log: Logger, failureText: string, recoveryText: string, textOf = errorText) =>
  (error: unknown): void => {
    if (error === null) log.info(recoveryText);
    else log.warn({ reason: textOf(error) }, failureText);
  };
