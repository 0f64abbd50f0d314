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
import type { KeyId } from '../../../src/gateway/auth/key-record.ts';
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

export type Call = Readonly<{
  key: string | null;
  method: string;
  product: 'rpc' | 'grpc';
  outcome: 'ok' | 'limited' | 'rpcError';
  network: 'devnet' | 'testnet' | null;
  micros: number;
  /** Time since the call before. */
  afterMs: number;
  messages: number;
  /** Whether usage is written after it. */
  isFlushed: boolean;
}>;

export const usualCall: Call = {
  ...{ key: 'AAAAAAAA', method: 'getSlot', product: 'rpc', outcome: 'ok', network: 'devnet', micros: 500 },
  ...{ afterMs: 0, messages: 0, isFlushed: false },
};

const codes = { ok: 0, limited: 'RATE_LIMITED', rpcError: -32_602 } as const;

/** Counts a call as the gateway does. */
export function record({ meter }: MeteredRun, call: Call, atMs: number): void {
  const key = call.key === null ? null : { id: call.key as KeyId };
  const { product, method, outcome: status, network, micros: latencyMicros, messages } = call;
  const counts = { bytesIn: 10, bytesOut: latencyMicros % 1_000, credits: status === 'ok' ? 3 : 0 };
  meter.record(
    { key, product, method, status, network, code: codes[status], ...counts, latencyMicros },
    atMs,
  );
  if (messages > 0 && key !== null)
    meter.recordMessages({ key, product, method, network, messages, bytesOut: messages, credits: 1 }, atMs);
}
