import { randomBytes } from 'node:crypto';

const TIME_DIGITS = 12;

/** Text that sorts before the ids of all entries at or after `atMs`, and after all earlier ids. */
export const firstIdAt = (atMs: number): string =>
  Math.min(2 ** (4 * TIME_DIGITS) - 1, Math.max(0, Math.floor(atMs)))
    .toString(16)
    .padStart(TIME_DIGITS, '0');

/** Time of an id, in Unix milliseconds. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, TIME_DIGITS), 16);

/** Generates ids that sort by time, then by order of creation. Lower-case hex sorts the same way in every collation. */
export class EntryIds {
  readonly #process = randomBytes(4).toString('hex');
  #count = 0;

  next(atMs: number): string {
    this.#count = (this.#count + 1) % 2 ** 32;
    return `${firstIdAt(atMs)}${this.#count.toString(16).padStart(8, '0')}${this.#process}`;
  }
}

export const isEntryId = (text: string): boolean => /^[0-9a-f]{28}$/.test(text);
