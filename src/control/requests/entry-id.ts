import { randomBytes } from 'node:crypto';

/** Digits of the time in an id: enough for ten thousand years. */
const TIME_DIGITS = 12;

/** The first id that an entry of this time or a later one can have. @param atMs - Unix milliseconds. */
export const firstIdAt = (atMs: number): string =>
  Math.min(2 ** (4 * TIME_DIGITS) - 1, Math.max(0, Math.floor(atMs)))
    .toString(16)
    .padStart(TIME_DIGITS, '0');

/**
 * Ids that stand in the order of their times, and of one time in the order in which they were made; no two processes
 * make the same. Lower-case hex, so that every collation orders them alike.
 */
export class EntryIds {
  readonly #process = randomBytes(4).toString('hex');
  #count = 0;

  /** @param atMs - Unix milliseconds. */
  next(atMs: number): string {
    this.#count = (this.#count + 1) % 2 ** 32;
    return `${firstIdAt(atMs)}${this.#count.toString(16).padStart(8, '0')}${this.#process}`;
  }
}

/** Whether a text can be such an id. */
export const isEntryId = (text: string): boolean => /^[0-9a-f]{28}$/.test(text);
