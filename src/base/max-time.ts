/** The last millisecond of the year 9999, in Unix milliseconds: what is later no calendar of ours can write. */
export const MAX_TIME_MS = Date.UTC(10_000, 0) - 1;
