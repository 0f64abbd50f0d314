import { ClickHouse } from '../../../src/control/clickhouse/client.ts';
import { ClickHouseTables } from '../../../src/control/clickhouse/tables.ts';
import type { Store } from '../../../src/control/database/store.ts';
import { FailureState } from '../../../src/control/failure-state.ts';
import { ClickHouseUsage } from '../../../src/control/usage/clickhouse/clickhouse-usage.ts';
import { clickHouseRollUps, pruneClickHouse } from '../../../src/control/usage/clickhouse/usage-roll-up.ts';
import { clickHouseSink } from '../../../src/control/usage/clickhouse/usage-sink.ts';
import { createUsageTables } from '../../../src/control/usage/clickhouse/usage-tables.ts';
import { rollUp } from '../../../src/control/usage/roll-up.ts';
import { databaseSink } from '../../../src/control/usage/usage-rows.ts';
import { UsageSplit } from '../../../src/control/usage/usage-split.ts';
import { UsageWriter, type UsageWriterOptions } from '../../../src/control/usage/usage-writer.ts';
import { UsageMeter } from '../../../src/gateway/metering/usage-meter.ts';

export type MeteredRun = Readonly<{
  meter: UsageMeter;
  flush(): Promise<void>;
  writers: readonly UsageWriter[];
}>;

/** A run that writes all usage to the database. */
export function databaseRun(store: Store, runId: string): MeteredRun {
  const meter = new UsageMeter();
  const writer = new UsageWriter({ sink: databaseSink(store), source: meter, runId });
  return { meter, writers: [writer], flush: () => writer.flush() };
}

/** Usage in ClickHouse, with totals in a database. */
export function openClickHouseUsage(store: Store, url: string) {
  const server = new ClickHouse(url);
  const tables = new ClickHouseTables(server, createUsageTables);
  const sink = clickHouseSink(store, server, tables, new FailureState());
  return {
    server,
    usage: new ClickHouseUsage(store, server, tables),
    /** @param folder - of the journals; null: none. */
    run(runId: string, folder: string | null = null, options: Partial<UsageWriterOptions> = {}): MeteredRun {
      const meter = new UsageMeter();
      const split = new UsageSplit(meter);
      const journalFolder = (name: string) => (folder === null ? null : `${folder}/${name}`);
      const writers = [
        new UsageWriter({
          ...{ sink: databaseSink(store), source: split.totals, runId, ...options },
          journalFolder: journalFolder('totals'),
        }),
        new UsageWriter({
          ...{ sink, source: split.details, runId, ...options, journalFolder: journalFolder('details') },
        }),
      ];
      const flush = async () => void (await Promise.all(writers.map((writer) => writer.flush())));
      return { meter, writers, flush };
    },
    rollUpAt: (nowMs: number) => rollUp(store, nowMs, async () => true, clickHouseRollUps(server, tables)),
    prune: () => pruneClickHouse(store, tables),
    close: () => server.close(),
  };
}
