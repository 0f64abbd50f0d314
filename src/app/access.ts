import { KeyDirectory, keyDirectoryOptions } from '../access/key-directory.ts';
import { KeyUses } from '../access/key-uses.ts';
import type { UsageMeter } from '../access/usage.ts';
import type { Logger } from '../base/log.ts';
import type { Store } from '../control/database/open.ts';
import { createFirstKeys } from '../control/first-start.ts';
import { KeyFeed } from '../control/keys/key-feed.ts';
import type { NewKey } from '../control/keys/keys.ts';
import { KeyUseWriter } from '../control/keys/use-writer.ts';
import type { Peppers } from '../control/pepper.ts';
import { openPeppers } from '../control/pepper-proof.ts';
import { syncPlans } from '../control/plans.ts';
import type { LimitExchange } from '../control/shared/limit-exchange.ts';
import type { Configuration } from './configuration.ts';
import type { Environment } from './configuration-secrets.ts';
import { type Limits, openLimits } from './limits.ts';
import { watchLosses } from './loss-watch.ts';
import { problemText } from './problem-text.ts';
import { stopEach } from './stop-each.ts';
import { openStore, pepperSources } from './store.ts';
import { openUsage } from './usage.ts';

/** Who may ask, kept in memory and fed from the store; what they use, counted in memory and written there. */
export type Access = Readonly<{
  keys: KeyDirectory;
  usage: UsageMeter;
  limits: Limits;
  /** When keys were used last, and from where. */
  uses: KeyUses;
  /** Rows of usage that wait to be stored. */
  usageWaiting(): number;
  store: Store;
  peppers: Peppers;
  /**
   * At the very first start, makes a key of each product; at every later one, none. Called once the door is
   * open: a start that fails must not make keys that nobody is shown.
   */
  createFirstKeys(): Promise<readonly NewKey[]>;
  /** Takes in what has changed of keys until now. */
  refreshKeys(): Promise<void>;
  /** Writes what is counted and closes the store. */
  stop(): Promise<void>;
}>;

const ACTOR = 'first start';

/** The store with what its secrets are made under. */
export type PreparedStore = Readonly<{ store: Store; peppers: Peppers }>;

/**
 * Opens the store, and brings schema, peppers and plans to what this program and its configuration have.
 * @throws what control throws: PepperError, SchemaTooNewError, or the driver's own error.
 */
export async function prepareStore(
  configuration: Configuration,
  environment: Environment,
  log: Logger,
): Promise<PreparedStore> {
  const store = await openStore(configuration, (error) =>
    log.warn({ problem: problemText(error) }, 'a connection to the database broke'),
  );
  try {
    const peppers = await openPeppers(store, pepperSources(configuration, environment));
    await syncPlans(store, configuration.plans, ACTOR);
    return { store, peppers };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** At the very first start, makes a key of each product; at every later one, none. */
export const makeFirstKeys = (
  { store, peppers }: PreparedStore,
  { keys: { keysMax } }: Configuration,
): Promise<NewKey[]> => createFirstKeys({ store, peppers, actor: ACTOR, keysMax, now: Date.now });

/**
 * Opens the store, loads the keys and begins to watch them.
 * @param ofWorkers - as for `openLimits`.
 * @throws what control throws: PepperError, SchemaTooNewError, or the driver's own error.
 */
export async function openAccess(
  configuration: Configuration,
  environment: Environment,
  log: Logger,
  ofWorkers?: LimitExchange,
): Promise<Access> {
  const prepared = await prepareStore(configuration, environment, log);
  try {
    return await watchStore(prepared, configuration, log, ofWorkers);
  } catch (error) {
    await prepared.store.close();
    throw error;
  }
}

async function watchStore(
  prepared: PreparedStore,
  configuration: Configuration,
  log: Logger,
  ofWorkers?: LimitExchange,
): Promise<Access> {
  const { store, peppers } = prepared;
  const { keys: limits } = configuration;
  const keys = new KeyDirectory({
    peppers: peppers.secrets,
    // Keys that expired since the start take room here and none in the store; keys_max may have been lowered.
    keysMax: Math.max(keyDirectoryOptions.keysMax, limits.keysMax * 2),
  });
  const feed = new KeyFeed({
    store,
    sink: keys,
    pollIntervalMs: limits.pollIntervalMs,
    awayAfterMs: configuration.store.awayAfterMs,
    onStore: (state, error) => {
      if (state === 'back') log.info('the store of keys can be reached');
      else log.warn({ problem: problemOf(error) }, 'the store of keys is away; known keys go on working');
    },
  });
  await feed.start();
  const usage = openUsage(store, configuration, log);
  const sharing = await openLimits(configuration, store, usage.epoch, log, ofWorkers);
  const uses = new KeyUses({ keysMax: limits.keysMax });
  const useWriter = new KeyUseWriter({ store, source: uses });
  useWriter.start();
  const createAndTakeIn = async (): Promise<readonly NewKey[]> => {
    const made = await makeFirstKeys(prepared, configuration);
    if (made.length > 0) await feed.refresh();
    return made;
  };
  const endLosses = watchLosses(
    [...usage.losses, { message: 'keys were left out: raise keys.keys_max', read: () => keys.leftOut }],
    log,
  );
  const stop = () =>
    stopEach([
      () => feed.stop(),
      () => sharing.stop(),
      () => usage.stop(),
      () => useWriter.stop(),
      async () => endLosses(),
      () => store.close(),
    ]);
  return {
    keys,
    usage: usage.meter,
    usageWaiting: usage.waiting,
    limits: sharing,
    uses,
    store,
    peppers,
    createFirstKeys: createAndTakeIn,
    refreshKeys: () => feed.refresh(),
    stop,
  };
}

const problemOf = (error: unknown): string =>
  error === undefined ? 'it does not answer' : problemText(error);
