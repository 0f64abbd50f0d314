import type { Logger } from '../base/log.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Environment } from '../config/sources.ts';
import { createFirstKeys, type NewKey } from '../control/keys/create-key.ts';
import { KeyFeed } from '../control/keys/key-feed.ts';
import { lastUsedWriter } from '../control/keys/last-used-writer.ts';
import { openPeppers } from '../control/pepper-proof.ts';
import { syncPlans } from '../control/plans.ts';
import type { LimitStore } from '../control/shared/limit-store.ts';
import { parseKeyId } from '../gateway/auth/api-key.ts';
import { JwksClient } from '../gateway/auth/jwks.ts';
import { JwtVerifier } from '../gateway/auth/jwt.ts';
import { KeyAuthenticator, keyAuthenticatorOptions } from '../gateway/auth/key-authenticator.ts';
import { LastUsedTracker } from '../gateway/metering/last-used.ts';
import { errorText } from './error-text.ts';
import { openLimits } from './limits.ts';
import { stopEach } from './process/stop-each.ts';
import { openStore, type PreparedStore, pepperSources } from './store.ts';
import { watchLosses } from './telemetry/loss-watch.ts';
import { openUsage } from './usage.ts';

const ACTOR = 'first start';

/**
 * Opens and upgrades the store, checks its peppers, and stores the plans.
 * @throws OperatorError, or the driver's error
 */
export async function prepareStore(
  configuration: Configuration,
  environment: Environment,
  log: Logger,
): Promise<PreparedStore> {
  const store = await openStore(configuration, (error) =>
    log.warn({ reason: errorText(error) }, 'Database connection lost'),
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

/** Creates one key per product if the store has no keys. */
export const createFirstStartKeys = (
  { store, peppers }: PreparedStore,
  { keys: { keysMax } }: Configuration,
): Promise<NewKey[]> => createFirstKeys({ store, peppers, actor: ACTOR, keysMax, now: Date.now });

/** Loads the keys and follows their changes. @param workerLimitStore - see `openLimits`. @throws see `prepareStore` */
export async function openAccess(
  configuration: Configuration,
  environment: Environment,
  log: Logger,
  workerLimitStore?: LimitStore,
): Promise<Access> {
  const prepared = await prepareStore(configuration, environment, log);
  try {
    return await watchStore(prepared, configuration, log, workerLimitStore);
  } catch (error) {
    await prepared.store.close();
    throw error;
  }
}

export type Access = Awaited<ReturnType<typeof watchStore>>;

async function watchStore(
  prepared: PreparedStore,
  configuration: Configuration,
  log: Logger,
  workerLimitStore?: LimitStore,
) {
  const { store, peppers } = prepared;
  const { keys: limits } = configuration;
  const { jwt } = limits;
  const issuer = jwt === null ? null : new JwksClient(jwt.jwksUrl, log);
  const keys = new KeyAuthenticator({
    peppers: peppers.secrets,
    jwt:
      jwt === null || issuer === null
        ? null
        : new JwtVerifier({ ...jwt, claim: jwt.keyClaim, parse: parseKeyId }, issuer),
    // Leaves room for expired keys, which still take memory here, and for keys created before keys_max was lowered.
    keysMax: Math.max(keyAuthenticatorOptions.keysMax, limits.keysMax * 2),
  });
  const feed = new KeyFeed({
    store,
    sink: keys,
    pollIntervalMs: limits.pollIntervalMs,
    unavailableAfterMs: configuration.store.unavailableAfterMs,
    onStoreState: (state, error) => {
      if (state === 'available') log.info('Key store available');
      else log.warn({ reason: problemOf(error) }, 'Key store unavailable; known keys stay valid');
    },
  });
  await Promise.all([feed.start(), issuer?.start()]);
  const usage = openUsage(store, configuration, log);
  const sharing = await openLimits(configuration, store, usage.runId, log, workerLimitStore);
  const lastUsed = new LastUsedTracker({ keysMax: limits.keysMax });
  const lastUses = lastUsedWriter({ store, source: lastUsed });
  lastUses.start();
  const createAndRefresh = async (): Promise<readonly NewKey[]> => {
    const created = await createFirstStartKeys(prepared, configuration);
    if (created.length > 0) await feed.refresh();
    return created;
  };
  const stopLossWatch = watchLosses(
    [...usage.losses, { message: 'API keys not loaded: raise keys.keys_max', read: () => keys.dropped }],
    log,
  );
  const stop = () =>
    stopEach([
      () => feed.stop(),
      async () => issuer?.stop(),
      () => sharing.stop(),
      () => usage.stop(),
      () => lastUses.finish(),
      async () => stopLossWatch(),
      () => store.close(),
    ]);
  return {
    keys,
    usage: usage.meter,
    setGateway: usage.setGateway,
    pendingUsageRows: usage.waiting,
    lostUsage: usage.lost,
    /** null: not configured. */
    clickHouse: usage.clickHouse,
    hasRejectedRows: usage.hasRejectedRows,
    limits: sharing,
    lastUsed,
    store,
    peppers,
    /** Must be called after the listeners are open: a failed start must not create keys that nobody sees. */
    createFirstKeys: createAndRefresh,
    refreshKeys: () => feed.refresh(),
    stop,
  };
}

const problemOf = (error: unknown): string =>
  error === undefined ? 'the database does not respond' : errorText(error);
