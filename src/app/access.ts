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
  store: Store;
  peppers: Peppers;
  /**
   * At the very first start, makes a key of each product; at every later one, none. Called once the door is
   * open: a start that fails must not make keys that nobody is shown.
   */
  createFirstKeys(): Promise<readonly NewKey[]>;
  /** Writes what is counted and closes the store. */
  stop(): Promise<void>;
}>;

const ACTOR = 'first start';

/**
 * Opens the store, loads the keys and begins to watch them.
 * @throws what control throws: PepperError, SchemaTooNewError, or the driver's own error.
 */
export async function openAccess(
  configuration: Configuration,
  environment: Environment,
  log: Logger,
): Promise<Access> {
  const store = await openStore(configuration, (error) =>
    log.warn({ problem: problemText(error) }, 'a connection to the database broke'),
  );
  try {
    return await watchStore(store, configuration, environment, log);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function watchStore(
  store: Store,
  configuration: Configuration,
  environment: Environment,
  log: Logger,
): Promise<Access> {
  const { keys: limits, plans } = configuration;
  const peppers = await openPeppers(store, pepperSources(configuration, environment));
  await syncPlans(store, plans, ACTOR);
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
  const sharing = await openLimits(configuration, store, usage.epoch, log);
  const uses = new KeyUses({ keysMax: limits.keysMax });
  const useWriter = new KeyUseWriter({ store, source: uses });
  useWriter.start();
  const register = { store, peppers, actor: ACTOR, keysMax: limits.keysMax, now: Date.now };
  const makeFirstKeys = async () => {
    const made = await createFirstKeys(register);
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
    limits: sharing,
    uses,
    store,
    peppers,
    createFirstKeys: makeFirstKeys,
    stop,
  };
}

const problemOf = (error: unknown): string =>
  error === undefined ? 'it does not answer' : problemText(error);
