import { readFileSync } from 'node:fs';
import type { Logger } from '../base/log.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Store } from '../control/database/store.ts';
import type { LimitStore } from '../control/shared/limit-store.ts';
import { QuotaReader } from '../control/shared/quota-reader.ts';
import { describeRedisError } from '../control/shared/redis-client.ts';
import { RedisLimitStore } from '../control/shared/redis-limit-store.ts';
import { SharedLimits } from '../control/shared/shared-limits.ts';
import { SharedMinSlotStore } from '../control/shared/shared-min-slot-store.ts';
import { ConnectionLimit } from '../gateway/limits/connection-limit.ts';
import { QuotaLedger } from '../gateway/limits/quota.ts';
import { RateLimiter } from '../gateway/limits/rate-limiter.ts';
import { SlidingWindowLimiter } from '../gateway/limits/sliding-window-limiter.ts';
import { restWindowOptions } from '../gateway/rest/rest-gateway.ts';
import { errorText } from './error-text.ts';
import { logStateChange } from './log-state-change.ts';
import { stopEach } from './process/stop-each.ts';

type SharedStore = Readonly<{ limitStore: LimitStore; describeError: (error: unknown) => string }>;

function redisStore({ shared }: Configuration): SharedStore | null {
  const { redisUrl, tlsCa, ...limits } = shared;
  if (redisUrl === null) return null;
  const ca = tlsCa === null ? null : readFileSync(tlsCa, 'utf8');
  return {
    limitStore: new RedisLimitStore({ ...limits, url: redisUrl, ca }),
    describeError: describeRedisError,
  };
}

function createSharedLimits(
  { shared }: Configuration,
  { limitStore, describeError }: SharedStore,
  parts: ConstructorParameters<typeof SharedLimits>[0]['parts'],
  log: Logger,
): SharedLimits {
  const unavailable = 'Shared limit store unavailable; each gateway enforces its share of each limit';
  const onState = logStateChange(log, unavailable, 'Shared limit store connected', describeError);
  return new SharedLimits({ ...shared, store: limitStore, parts, onState });
}

function sharedMinSlots({ shared, sessions }: Configuration, { limitStore: store }: SharedStore) {
  // Minimum slots are stored under their earlier name, `floor`.
  return new SharedMinSlotStore({ store, prefix: `${shared.prefix}floor:`, retentionMs: sessions.idleMs });
}

/**
 * Creates the limits, loads this month's usage and connects to the shared limit store.
 * @param workerLimitStore - shared by all workers, used if Redis is not configured; omitted in a single process.
 * @throws the database driver's error; a file system error if `shared.tls_ca` cannot be read.
 */
export async function openLimits(
  configuration: Configuration,
  store: Store,
  runId: string,
  log: Logger,
  workerLimitStore?: LimitStore,
) {
  const { keys, rest, quotas } = configuration;
  const sharedBy =
    redisStore(configuration) ??
    (workerLimitStore === undefined ? null : { limitStore: workerLimitStore, describeError: errorText });
  const isShared = sharedBy !== null;
  const limits = {
    rates: new RateLimiter({ familiesMax: keys.keysMax, isShared }),
    /** Limits each key's requests per minute to each REST endpoint group. */
    restWindows: new SlidingWindowLimiter(restWindowOptions(rest, isShared)),
    sockets: new ConnectionLimit({ isShared }),
    streams: new ConnectionLimit({ isShared }),
    quota: new QuotaLedger({ accountsMax: quotas.accountsMax }),
  };
  const { accountsMax: _, ...readerOptions } = quotas;
  const reader = new QuotaReader({
    ...readerOptions,
    store,
    ledger: limits.quota,
    runId,
    onState: logStateChange(
      log,
      'Failed to read quota usage of other gateways',
      'Quota usage of other gateways readable again',
    ),
  });
  await reader.start();
  const { rates, restWindows, sockets, streams, quota } = limits;
  const parts = { rates, windows: { rest: restWindows }, connections: { ws: sockets, grpc: streams }, quota };
  const sharedLimits = sharedBy === null ? null : createSharedLimits(configuration, sharedBy, parts, log);
  await sharedLimits?.start();
  /** Store for each session's minimum slot, shared between gateways; null: not shared. */
  const minSlots = sharedBy === null ? null : sharedMinSlots(configuration, sharedBy);
  return {
    ...limits,
    minSlots,
    stop: () => stopEach([() => reader.stop(), async () => sharedLimits?.stop()]),
  };
}

export type Limits = Awaited<ReturnType<typeof openLimits>>;
