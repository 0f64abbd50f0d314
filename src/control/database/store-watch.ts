import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** PostgreSQL channel on which a committed change is announced. The message carries nothing. */
export const CHANGE_CHANNEL = 'solway_change';

/** A connection of its own, over which one looks for changes and hears of them, whatever others wait for. */
export type StoreWatch = Readonly<{
  db: Kysely<Schema>;
  /**
   * Asks over it what is answered soon: something small, or one page of many. Waits until it is there first.
   * @param patience - how many times as long as usual the answer may take.
   * @throws StoreHangsError when the answer is late: the connection is given up then, and the next question gets another;
   * what is thrown where none can be made.
   */
  withDeadline<Result>(query: () => Promise<Result>, patience?: number): Promise<Result>;
  close(): Promise<void>;
}>;
