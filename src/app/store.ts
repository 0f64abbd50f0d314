import { existsSync } from 'node:fs';
import type { Configuration } from '../config/configuration.ts';
import type { Environment } from '../config/sources.ts';
import { notFound } from '../control/api/api-error.ts';
import { openDatabase } from '../control/database/open.ts';
import type { Store } from '../control/database/store.ts';
import type { PepperSources, Peppers } from '../control/pepper.ts';
import { databaseFile } from './process/data-dir.ts';

export type PreparedStore = Readonly<{ store: Store; peppers: Peppers }>;

/** @param onError - called when an idle connection breaks. @throws SchemaTooNewError, or the driver's error */
export function openStore(
  { store, dataDir }: Configuration,
  onError?: (error: Error) => void,
): Promise<Store> {
  const { databaseUrl, clickhouseUrl: _url, unavailableAfterMs: _, ...limits } = store;
  return openDatabase({
    url: databaseUrl,
    file: databaseFile(dataDir),
    ...limits,
    ...(onError && { onError }),
  });
}

/** A gateway counts as running if its last heartbeat is at most this old. Heartbeats are sent every 2 s. */
export const RUNNING_MS = 10_000;

/** Opens the configured database, runs `work` and closes the database. @throws the same errors as `openStore` */
export async function withStore<Result>(
  configuration: Configuration,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(configuration);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Prevents commands from creating an empty database. @throws ApiError 404 */
export function checkStoreExists({ store, dataDir }: Configuration): void {
  const file = databaseFile(dataDir);
  if (store.databaseUrl !== null || existsSync(file)) return;
  throw notFound(
    `database ${file} does not exist: pass the --config or --data-dir of the service, or create a key first`,
  );
}

export const pepperSources = ({ dataDir }: Configuration, environment: Environment): PepperSources => ({
  text: environment.SOLWAY_PEPPER || undefined,
  file: environment.SOLWAY_PEPPER_FILE || undefined,
  dataDir,
});
