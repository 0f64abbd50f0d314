import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** PostgreSQL channel for committed changes; notifications are empty. */
export const CHANGE_CHANNEL = 'solway_change';

/** A separate connection for polls and notifications, independent of the pool. */
export type StoreWatch = Readonly<{
  db: Kysely<Schema>;
  /**
   * Runs a small query with a deadline; connects first.
   * @param patience - multiple of the usual deadline.
   * @throws StoreHangsError when it is late; the connection is then replaced.
   */
  withDeadline<Result>(query: () => Promise<Result>, patience?: number): Promise<Result>;
  close(): Promise<void>;
}>;
