/** Last millisecond of the year 9999, in Unix milliseconds; later times have no four-digit year. */
export const MAX_TIME_MS = Date.UTC(10_000, 0) - 1;
