import { databaseOptions as database } from '../../control/database/open.ts';
import { keyFeedOptions } from '../../control/keys/key-feed.ts';
import { HOUR_MS, section, url, whole } from '../field-types.ts';

const databaseUrl = url(['postgres:', 'postgresql:'], 'a PostgreSQL URL', 'postgres://user@host/database');

/** `[store]`: where keys, plans, usage and audit are kept. */
export const storeSection = section({
  database_url: databaseUrl.nullable().default(null),
  connections_max: whole(2, 1_000).default(database.connectionsMax),
  connect_timeout_ms: whole(50, 60_000).default(database.connectTimeoutMs),
  query_timeout_ms: whole(100, HOUR_MS).default(database.queryTimeoutMs),
  hangs_after_ms: whole(50, 60_000).default(database.hangsAfterMs),
  lock_wait_ms: whole(50, 60_000).default(database.lockWaitMs),
  away_after_ms: whole(100, 60_000).default(keyFeedOptions.awayAfterMs),
});
