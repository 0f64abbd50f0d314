import type { Logger } from '../base/log.ts';
import { AuditCopy } from '../control/clickhouse/audit-copy.ts';
import { ClickHouse } from '../control/clickhouse/client.ts';
import { ClickHouseTables } from '../control/clickhouse/tables.ts';
import type { Store } from '../control/database/store.ts';
import { FailureState } from '../control/failure-state.ts';
import { PeriodicTask } from '../control/periodic-task.ts';
import { ClickHouseUsage } from '../control/usage/clickhouse/clickhouse-usage.ts';
import { clickHouseRollUps, pruneClickHouse } from '../control/usage/clickhouse/usage-roll-up.ts';
import { clickHouseSink } from '../control/usage/clickhouse/usage-sink.ts';
import { createUsageTables } from '../control/usage/clickhouse/usage-tables.ts';
import { UsageRoller } from '../control/usage/usage-roller.ts';
import { logStateChange } from './log-state-change.ts';
import { stopEach } from './process/stop-each.ts';

const PING_INTERVAL_MS = 1_000;
/** A server that accepts connections but does not respond must be reported within five seconds. */
const PING_TIMEOUT_MS = 2_000;
/** Long, because one statement sums an hour of all customers. */
const ROLL_UP_TIMEOUT_MS = 300_000;

export type ClickHouseParts = NonNullable<ReturnType<typeof openClickHouse>>;

/** Opens usage in ClickHouse, and copies the audit log there; null if it is not configured. */
export function openClickHouse(store: Store, url: string | null, log: Logger) {
  if (url === null) return null;
  const [writes, reads, rollUps, probes] = [
    new ClickHouse(url),
    new ClickHouse(url),
    new ClickHouse(url, ROLL_UP_TIMEOUT_MS),
    new ClickHouse(url, PING_TIMEOUT_MS),
  ];
  const tables = new ClickHouseTables(writes, createUsageTables);
  const inserts = new FailureState();
  const ping = new FailureState(
    logStateChange(log, 'ClickHouse is unreachable', 'ClickHouse is reachable again'),
  );
  const pings = new PeriodicTask(() => ping.guard(() => probes.ping()), PING_INTERVAL_MS);
  const roller = new UsageRoller({
    store,
    rollUps: clickHouseRollUps(rollUps, tables),
    upkeep: () => pruneClickHouse(store, tables),
    leasePrefix: 'clickhouse ',
    // So that no other gateway sums the same hour meanwhile.
    leaseMs: ROLL_UP_TIMEOUT_MS,
    onState: logStateChange(
      log,
      'Usage rollup in ClickHouse failed; minutes are retained',
      'Usage rollup in ClickHouse resumed',
    ),
  });
  const audit = new AuditCopy({
    ...{ store, server: writes },
    onState: logStateChange(
      log,
      'Failed to copy the audit log to ClickHouse; retrying',
      'Copying the audit log to ClickHouse recovered',
    ),
    onRejectedState: logStateChange(
      log,
      'Some audit entries could not be stored in ClickHouse; retrying',
      'ClickHouse has all audit entries',
    ),
  });
  for (const task of [pings, roller, audit]) task.start();
  return {
    sink: clickHouseSink(store, writes, tables, inserts),
    usage: new ClickHouseUsage(store, reads, tables),
    isUp: () => !ping.isFailing && !inserts.isFailing,
    /** Whether audit entries are rejected, or hours cannot be summed; `UsageWriter` has its own state. */
    hasRejectedRows: () => audit.hasRejectedRows || (roller.isIncomplete && !ping.isFailing),
    // Aborts a running rollup, which could take minutes.
    stopWork: () =>
      stopEach([() => rollUps.close(), () => pings.stop(), () => roller.stop(), () => audit.stop()]),
    close: () => stopEach([writes, reads, probes].map((server) => () => server.close())),
  };
}
