import { readFileSync } from 'node:fs';
import { ConnectionLimit } from '../access/connection-limit.ts';
import { QuotaLedger } from '../access/quota.ts';
import { RateLimiter } from '../access/rate-limit.ts';
import { WindowLimit } from '../access/window-limit.ts';
import type { Logger } from '../base/log.ts';
import { withDefaults } from '../base/with-defaults.ts';
import type { Store } from '../control/database/open.ts';
import type { LimitExchange } from '../control/shared/limit-exchange.ts';
import { QuotaReader } from '../control/shared/quota-reader.ts';
import { RedisExchange } from '../control/shared/redis-exchange.ts';
import { sharingProblem } from '../control/shared/redis-problem.ts';
import { SharedFloors } from '../control/shared/shared-floors.ts';
import { SharedLimits } from '../control/shared/shared-limits.ts';
import { restWindowOptions } from '../gateway/rest/rest-gate.ts';
import type { FloorExchange } from '../protocol/slot-floor.ts';
import type { Configuration } from './configuration.ts';
import { problemText } from './problem-text.ts';
import { stopEach } from './stop-each.ts';

/** What limits the use of keys over all doors and, where they share it, over all gateways. */
export type Limits = Readonly<{
  rates: RateLimiter;
  /** Of the endpoint groups of the REST interface. */
  groups: WindowLimit;
  /** Of WebSocket connections. */
  sockets: ConnectionLimit;
  /** Of gRPC streams. */
  streams: ConnectionLimit;
  quota: QuotaLedger;
  /** Where sessions are kept together with others; null: nowhere. */
  floors: FloorExchange | null;
  stop(): Promise<void>;
}>;

/** What limits are shared over, and how its troubles are told. */
type Sharing = Readonly<{ exchange: LimitExchange; problemOf: (error: unknown) => string }>;

function redisSharing({ shared }: Configuration): Sharing | null {
  const { redisUrl, tlsCa, ...limits } = shared;
  if (redisUrl === null) return null;
  const ca = tlsCa === null ? null : readFileSync(tlsCa, 'utf8');
  return { exchange: new RedisExchange({ ...limits, url: redisUrl, ca }), problemOf: sharingProblem };
}

function share(
  { shared }: Configuration,
  { exchange, problemOf }: Sharing,
  { rates, groups, sockets, streams, quota }: Omit<Limits, 'floors' | 'stop'>,
  log: Logger,
): SharedLimits {
  return new SharedLimits({
    ...shared,
    exchange,
    parts: { rates, windows: { rest: groups }, places: { ws: sockets, grpc: streams }, quota },
    onState: (error) => {
      if (error === null) log.info('limits are shared with the other gateways');
      else
        log.warn({ problem: problemOf(error) }, 'shared limits are away: each gateway has its part of them');
    },
  });
}

const sharedFloors = ({ shared, sessions }: Configuration, { exchange }: Sharing): SharedFloors =>
  new SharedFloors({ exchange, prefix: `${shared.prefix}floor:`, keptMs: sessions.idleMs });

/**
 * Builds the limits, learns what was used of this month, and begins to hear of the other gateways.
 * @param epoch - how this run is named in usage.
 * @param ofWorkers - where workers of one service share limits that no Redis shares; absent: this process is all of it.
 * @throws the driver's error when the store cannot be read, the system's when a file cannot.
 */
export async function openLimits(
  configuration: Configuration,
  store: Store,
  epoch: string,
  log: Logger,
  ofWorkers?: LimitExchange,
): Promise<Limits> {
  const { keys, rest, quotas } = configuration;
  const over =
    redisSharing(configuration) ??
    (ofWorkers === undefined ? null : { exchange: ofWorkers, problemOf: problemText });
  const isShared = over !== null;
  const limits = {
    rates: new RateLimiter({ familiesMax: keys.keysMax, isShared }),
    groups: new WindowLimit(
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
  const { accountsMax: _, ...reading } = quotas;
  const reader = new QuotaReader({
    ...reading,
    store,
    ledger: limits.quota,
    epoch,
    onState: (error) => {
      if (error === null) log.info('what other gateways used of quotas is known again');
      else log.warn({ problem: problemText(error) }, 'what other gateways used of quotas cannot be read');
    },
  });
  await reader.start();
  const sharing = over === null ? null : share(configuration, over, limits, log);
  await sharing?.start();
  const floors = over === null ? null : sharedFloors(configuration, over);
  return { ...limits, floors, stop: () => stopEach([() => reader.stop(), async () => sharing?.stop()]) };
}
