import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/control/database/store.ts';
import { exportSums, exportUsage } from '../../../src/control/usage/export-usage.ts';
import { creditsByDay } from '../../../src/control/usage/quotas.ts';
import {
  axisOver,
  type GroupColumn,
  hasSucceeded,
  readSums,
  type UsageFilter,
  type UsageSum,
} from '../../../src/control/usage/read-usage.ts';
import { runChecks } from '../../../src/control/usage/usage-checks.ts';
import { databaseUsage, type UsageReader } from '../../../src/control/usage/usage-reader.ts';
import { pruneUsage } from '../../../src/control/usage/usage-retention.ts';
import { temporaryFolder } from '../../service/program.ts';
import { clickHouseProgram, sharedClickHouse } from '../clickhouse-server.ts';
import { describeOnSqlite } from '../stores.ts';
import {
  type Call,
  databaseRun,
  openClickHouseUsage,
  record,
  usualCall,
} from './clickhouse-usage-fixture.ts';
import { addKeys, EDGE, rollUpAt } from './usage-fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const anyCall: fc.Arbitrary<Call> = fc.record({
  key: fc.constantFrom('AAAAAAAA', 'BBBBBBBB', 'CCCCCCCC', null),
  method: fc.constantFrom('getSlot', 'getBlock', 'invented'),
  product: fc.constantFrom('rpc', 'grpc'),
  outcome: fc.constantFrom('ok', 'limited', 'rpcError'),
  network: fc.constantFrom('devnet', 'testnet', null),
  micros: fc.integer({ min: 0, max: 40_000_000 }),
  afterMs: fc.oneof(fc.integer({ min: 0, max: 2 * MINUTE_MS }), fc.integer({ min: 0, max: 5 * HOUR_MS })),
  messages: fc.constantFrom(0, 0, 7),
  isFlushed: fc.boolean(),
});

/** Runs of gateways: their calls, and how long before the edge they begin. */
const anyRuns = fc.array(
  fc.record({
    calls: fc.array(anyCall, { minLength: 1, maxLength: 8 }),
    beforeMs: fc.integer({ min: 0, max: 2 * DAY_MS }),
    /** Whether usage is rolled up after the run. */
    isRolledUp: fc.boolean(),
  }),
  { minLength: 3, maxLength: 3 },
);

/** Each outcome in each run, for what a random case may lack. */
const usualRuns = [DAY_MS, HOUR_MS, 0].map((beforeMs, nth) => ({
  beforeMs,
  isRolledUp: nth === 1,
  calls: (['ok', 'limited', 'rpcError'] as const).map((outcome) => ({
    ...usualCall,
    ...{ outcome, afterMs: MINUTE_MS, messages: nth },
  })),
}));

const groups: readonly (readonly GroupColumn[])[] = [
  [],
  ['status'],
  ['product'],
  ['method', 'status'],
  ['network'],
  ['epoch', 'status'],
  ['code'],
  ['customer_id', 'status'],
  ['key_id', 'method'],
  ['status', 'code', 'method', 'product', 'key_id'],
];

const filters: readonly UsageFilter[] = [
  { customerId: null },
  { customerId: null, method: 'getSlot', network: 'devnet', failed: true },
  { customerId: 'acme', product: 'rpc' },
  { customerId: null, code: 'RATE_LIMITED' },
  { customerId: 'acme', keys: ['BBBBBBBB'] },
];

const axes = [
  axisOver('minute', EDGE - 2 * HOUR_MS, EDGE + HOUR_MS),
  axisOver('minute', EDGE - 3 * DAY_MS - 7 * MINUTE_MS, EDGE + DAY_MS),
  axisOver('hour', EDGE - 3 * DAY_MS, EDGE + 3 * DAY_MS),
  axisOver('day', EDGE - 3 * DAY_MS, EDGE + 10 * DAY_MS),
];

const sorted = (rows: ReadonlyMap<string, unknown>) => [...rows].sort(([a], [b]) => (a < b ? -1 : 1));

async function sumsOf(usage: UsageReader, query: Parameters<UsageReader['readSums']>[0], isWhole: boolean) {
  const all = [];
  for (const [nth, groupBy] of groups.entries()) {
    if (nth % 2 === Number(isWhole)) continue;
    // Only sums across customers are stored by run.
    if (groupBy.includes('epoch') && query.filter.customerId !== null) continue;
    const sums = new Map<string, object>();
    const add = (row: UsageSum<GroupColumn>): void => {
      const { at, requests, credits, bytes_in, bytes_out, messages, last_minute } = row;
      const name = [String(at), ...groupBy.map((column) => row[column])].join(' ');
      const before = (sums.get(name) ?? {}) as Record<string, number>;
      const counters = { requests, credits, bytes_in, bytes_out, messages };
      for (const [counter, count] of Object.entries(counters))
        before[counter] = (before[counter] ?? 0) + count;
      // Other sums of the database have only the precision of the step.
      if (groupBy.includes('key_id')) before.last = Math.max(before.last ?? 0, last_minute);
      sums.set(name, before);
    };
    await usage.readSums(query, groupBy, add, isWhole ? null : query.axis);
    all.push(sorted(sums));
  }
  return all;
}

async function latenciesOf(usage: UsageReader, query: Parameters<UsageReader['readLatencies']>[0]) {
  const counts = new Map<string, number>();
  for (const by of [null, { column: 'method' }, { column: 'key_id', values: ['AAAAAAAA', ''] }] as const)
    await usage.readLatencies(query, by, ({ at, name, product, latency }) => {
      for (const pair of latency.split(',')) {
        const [bucket, count] = pair.split(':');
        const id = `${by?.column} ${at} ${name} ${by === null ? '' : product} ${bucket}`;
        counts.set(id, (counts.get(id) ?? 0) + Number(count));
      }
    });
  return sorted(counts);
}

async function exportsOf(store: Store, usage: UsageReader, query: Parameters<UsageReader['readSums']>[0]) {
  const rows = [];
  for await (const page of exportUsage(store, usage, query)) rows.push(...page);
  for await (const page of exportSums(store, usage, query, ['product', 'method', 'customer_id']))
    rows.push(...page.map(({ last_minute: _, ...row }) => row));
  return rows;
}

/** All that can be read of usage. */
async function everythingOf(store: Store, usage: UsageReader) {
  const all: unknown[] = [];
  for (const [nth, axis] of axes.entries()) {
    for (const filter of [filters[nth]!, filters[(nth + 1) % filters.length]!]) {
      const query = { axis, filter };
      all.push(await sumsOf(usage, query, nth % 2 === 1), await latenciesOf(usage, query));
      for (const order of ['requests', 'errors', 'credits'] as const)
        all.push(await usage.readLargest(query, nth % 2 === 0 ? 'method' : 'key_id', order, 3));
    }
  }
  all.push(
    await exportsOf(store, usage, { axis: axes[2]!, filter: { customerId: 'acme', method: 'getSlot' } }),
  );
  all.push(await exportsOf(store, usage, { axis: axes[3]!, filter: { customerId: null } }));
  for (const customerId of ['acme', 'other'])
    all.push(
      await creditsByDay(store, { customerId, planId: 'default' }, EDGE + 5 * DAY_MS),
      await hasSucceeded(store, customerId),
    );
  return all;
}

describe.skipIf(clickHouseProgram === null)('in ClickHouse (skipped where it is not installed)', () => {
  describeOnSqlite('usage', ({ open, defer }) => {
    async function openBoth() {
      const [one, other] = [await open(), await open()];
      for (const store of [one, other]) {
        await addKeys(store, 'acme', { AAAAAAAA: 'default', BBBBBBBB: 'default' });
        await addKeys(store, 'other', { CCCCCCCC: 'default' });
      }
      const clickHouse = openClickHouseUsage(other, await (await sharedClickHouse()).createDatabase());
      defer(() => clickHouse.close());
      return { one, other, clickHouse };
    }

    it('reads the same as in the database, across the switch to ClickHouse, late usage and rollups', async () => {
      await fc.assert(
        fc.asyncProperty(anyRuns, async (runs) => {
          const { one, other, clickHouse } = await openBoth();
          for (const [nth, { calls, beforeMs, isRolledUp }] of runs.entries()) {
            const runId = `run ${nth}`;
            // The first run ends before ClickHouse is configured.
            const both = [
              databaseRun(one, runId),
              nth === 0 ? databaseRun(other, runId) : clickHouse.run(runId),
            ];
            let atMs = EDGE - beforeMs;
            for (const call of calls) {
              atMs += call.afterMs;
              for (const run of both) record(run, call, atMs);
              if (call.isFlushed) for (const run of both) await run.flush();
            }
            for (const run of both) await run.flush();
            if (!isRolledUp) continue;
            const rolledUpTo = EDGE + calls.length * HOUR_MS;
            for (const store of [one, other]) await rollUpAt(store, rolledUpTo);
            await clickHouse.rollUpAt(rolledUpTo);
          }
          const expected = await everythingOf(one, databaseUsage(one));
          expect(await everythingOf(other, clickHouse.usage)).toEqual(expected);
          const checks = await runChecks(other, EDGE + 2 * DAY_MS, async () => true);
          expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
        }),
        { numRuns: 2, examples: [[usualRuns]], endOnFailure: true },
      );
    });

    /** Requests of all calls, in ClickHouse and in the database. */
    async function countsOf(store: Store, usage: UsageReader): Promise<[number, number]> {
      const query = { axis: axisOver('hour', EDGE - DAY_MS, EDGE + DAY_MS), filter: { customerId: 'acme' } };
      let [detailed, total] = [0, 0];
      await usage.readSums(query, ['method'], ({ requests }) => {
        detailed += requests;
      });
      await readSums(store, query, [], ({ requests }) => {
        total += requests;
      });
      return [detailed, total];
    }

    it('loses and doubles nothing while the server is killed and restarted, and the database does not wait', async () => {
      const { other, clickHouse } = await openBoth();
      const server = await sharedClickHouse();
      const states: boolean[] = [];
      const run = clickHouse.run('run', temporaryFolder('usage-journals'), {
        onStoreState: (error) => states.push(error === null),
      });
      const use = (count: number, minute: number): void => {
        for (let done = 0; done < count; done++) record(run, usualCall, EDGE + minute * MINUTE_MS);
      };
      use(5, 0);
      await run.flush();
      use(7, 0);
      // The server ends during this insert, before it or after it.
      await Promise.all([run.flush(), server.kill()]);
      use(11, 1);
      await run.flush();
      use(13, 2);
      await run.flush();
      expect(run.writers.map(({ pendingRows }) => pendingRows > 0)).toEqual([false, true]);
      await expect(countsOf(other, clickHouse.usage)).rejects.toMatchObject({
        status: 503,
        code: 'STORE_AWAY',
      });
      expect(await countsOf(other, databaseUsage(other))).toEqual([36, 36]);
      await server.start();
      await run.flush();
      expect(await countsOf(other, clickHouse.usage)).toEqual([36, 36]);
      expect([states, run.writers.map(({ pendingRows }) => pendingRows)]).toEqual([
        [false, true],
        [0, 0],
      ]);
      for (const writer of run.writers) await writer.stop();
    });

    it('recovers the usage of a gateway that was killed while the server was unreachable, once', async () => {
      const { other, clickHouse } = await openBoth();
      const folder = temporaryFolder('usage-journals');
      const program = join(import.meta.dirname, 'clickhouse-usage-writer.ts');
      const child = spawn(process.execPath, [program, folder, other.location, '40'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'exit');
      // As if the gateway had been killed after the server had stored the rows.
      const copy = temporaryFolder('usage-journals');
      cpSync(folder, copy, { recursive: true });
      for (const journals of [folder, copy]) {
        const recovered: number[] = [];
        const run = clickHouse.run(randomUUID(), journals, {
          onJournalRecovered: ({ rows }) => recovered.push(rows),
        });
        await run.flush();
        for (const writer of run.writers) await writer.stop();
        expect(recovered).toEqual([1]);
      }
      expect(await countsOf(other, clickHouse.usage)).toEqual([40, 40]);
    });

    it('drops days that the database no longer retains, after they are rolled up', async () => {
      const { other, clickHouse } = await openBoth();
      const run = clickHouse.run('run');
      record(run, usualCall, EDGE);
      await run.flush();
      await rollUpAt(other, EDGE + 3 * DAY_MS);
      const expired = EDGE + 10 * DAY_MS;
      const daysAfter = async (hoursDays: number): Promise<string[]> => {
        await pruneUsage(other, { minutesDays: 2, hoursDays, daysDays: 30 }, expired);
        await clickHouse.prune();
        const { rows } = await clickHouse.server.query<{ table: string }>(
          'select distinct table from system.parts where active and database = currentDatabase() order by table',
        );
        return rows.map(({ table }) => table);
      };
      expect(await daysAfter(20)).toEqual(['usage_minute']);
      await clickHouse.rollUpAt(EDGE + 3 * DAY_MS);
      expect(await daysAfter(20)).toEqual(['usage_day', 'usage_hour']);
      expect(await countsOf(other, clickHouse.usage)).toEqual([1, 1]);
      expect(await daysAfter(5)).toEqual(['usage_day']);
      // Later usage of the same minute is rejected.
      record(run, usualCall, EDGE);
      await run.flush();
      expect(run.writers.map(({ losses }) => losses.lateRows)).toEqual([1, 1]);
    });
  });
});
