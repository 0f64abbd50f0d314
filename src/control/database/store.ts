import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** PostgreSQL channel that announces committed changes. Notifications have no payload. */
export const CHANGE_CHANNEL = 'solway_change';

export type Store = Readonly<{
  dialect: 'sqlite' | 'postgres';
  db: Kysely<Schema>;
  /** For logs: the file, or the server without credentials. */
  location: string;
  /** Schema number before migration; 0 for an empty database. */
  schemaFound: number;
  /** Opens a separate connection that is notified of changes; null for SQLite. */
  watch: ((onChange: () => void) => StoreWatch) | null;
  /** @throws StoreReplacedError if the file was deleted or replaced. */
  checkNotReplaced(): void;
  close(): Promise<void>;
}>;

export interface StoreWatch {
  readonly db: Kysely<Schema>;
  /**
   * Runs a small query with a deadline. Connects first if needed.
   * @param patience - multiple of the usual deadline.
   * @throws StoreHangsError if the deadline passes; the connection is then replaced.
   */
  withDeadline<Result>(query: () => Promise<Result>, patience?: number): Promise<Result>;
  close(): Promise<void>;
}
