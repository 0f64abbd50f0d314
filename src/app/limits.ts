import { readFileSync } from 'node:fs';
import type { Logger } from '../base/log.ts';
import { withDefaults } from '../base/with-defaults.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Store } from '../control/database/open.ts';
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

type Sharing = Readonly<{ limitStore: LimitStore; problemOf: (error: unknown) => string }>;

function redisSharing({ shared }: Configuration): Sharing | null {
  const { redisUrl, tlsCa, ...limits } = shared;
  if (redisUrl === null) return null;
  const ca = tlsCa === null ? null : readFileSync(tlsCa, 'utf8');
  return { limitStore: new RedisLimitStore({ ...limits, url: redisUrl, ca }), problemOf: describeRedisError };
}

function share(
  { shared }: Configuration,
  { limitStore, problemOf }: Sharing,
  parts: ConstructorParameters<typeof SharedLimits>[0]['parts'],
  log: Logger,
): SharedLimits {
  const failing = 'Shared limits unavailable; each gateway enforces its share';
  const onState = logStateChange(log, failing, 'Shared limits connected', problemOf);
  return new SharedLimits({ ...shared, store: limitStore, parts, onState });
}

function sharedMinSlots({ shared, sessions }: Configuration, { limitStore: store }: Sharing) {
  return new SharedMinSlotStore({ store, prefix: `${shared.prefix}floor:`, retentionMs: sessions.idleMs });
}

/**
 * Builds the limits, loads the usage of this month, and shares limits with other gateways.
 * @param workerLimitStore - shares limits with other workers when Redis is not configured; absent: a single process.
 * @throws the driver's error when the store cannot be read, the system's when a file cannot.
 */
export async function openLimits(
  configuration: Configuration,
  store: Store,
  epoch: string,
  log: Logger,
  workerLimitStore?: LimitStore,
) {
  const { keys, rest, quotas } = configuration;
  const sharedBy =
    redisSharing(configuration) ??
    (workerLimitStore === undefined ? null : { limitStore: workerLimitStore, problemOf: errorText });
  const isShared = sharedBy !== null;
  const limits = {
    rates: new RateLimiter({ familiesMax: keys.keysMax, isShared }),
    /** Endpoint groups of REST. */
    groups: new SlidingWindowLimiter(
      withDefaults(
        { ...restWindowOptions(rest), isShared },
        {
          get requestsMax() {
            return rest.requestsPerMinute;
          },
        },
      ),
    ),
    sockets: new ConnectionLimit({ isShared }),
    streams: new ConnectionLimit({ isShared }),
    quota: new QuotaLedger({ accountsMax: quotas.accountsMax }),
  };
  const { accountsMax: _, ...readerOptions } = quotas;
  const reader = new QuotaReader({
    ...readerOptions,
    store,
    ledger: limits.quota,
    epoch,
    onState: logStateChange(
      log,
      'Failed to read quota usage of other gateways',
      'Reading quota usage of other gateways recovered',
    ),
  });
  await reader.start();
  const { rates, groups, sockets, streams, quota } = limits;
  const parts = { rates, windows: { rest: groups }, connections: { ws: sockets, grpc: streams }, quota };
  const sharing = sharedBy === null ? null : share(configuration, sharedBy, parts, log);
  await sharing?.start();
  /** Shared minimum slots of sessions; null: not shared. */
  const minSlots = sharedBy === null ? null : sharedMinSlots(configuration, sharedBy);
  return { ...limits, minSlots, stop: () => stopEach([() => reader.stop(), async () => sharing?.stop()]) };
}

export type Limits = Awaited<ReturnType<typeof openLimits>>;
