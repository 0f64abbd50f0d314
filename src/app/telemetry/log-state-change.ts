import type { Logger } from '../../base/log.ts';
import { problemText } from '../problem-text.ts';

/** Says in the log when something begins to fail and, told of null, when it works again. */
export const logStateChange =
  (log: Logger, failing: string, working: string) =>
  (error: unknown | null): void => {
    if (error === null) log.info(working);
    else log.warn({ problem: problemText(error) }, failing);
  };
