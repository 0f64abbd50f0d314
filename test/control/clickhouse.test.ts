import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ClickHouseLog } from '../../src/control/requests/clickhouse/clickhouse-log.ts';
import { eventually } from '../service/eventually.ts';
import { temporaryFolder } from '../service/program.ts';
import {
  describeOnClickHouse,
  type OpenClickHouse,
  RETENTION_HOURS,
  sharedClickHouse,
} from './clickhouse-server.ts';
import { createRequestWriter, LOGGED_AT, requestEntry } from './request-writer-fixture.ts';

const all = { from: 0, to: LOGGED_AT * 2 };
const HOUR_MS = 3_600_000;

/** Entries with the numbers from `first` on. */
const entries = (first: number, count: number) =>
  Array.from({ length: count }, (_, nth) =>
    requestEntry({ at: LOGGED_AT + first + nth, micros: first + nth }),
  );

const upTo = (count: number): number[] => Array.from({ length: count }, (_, nth) => nth);

async function stored({ logStore }: Pick<OpenClickHouse, 'logStore'>): Promise<number[]> {
  const { rows } = await logStore.list('anna', all, 10_000, null);
  const { steps } = await logStore.count('anna', all, LOGGED_AT * 2);
  const counted = steps.reduce((sum, { requests }) => sum + requests, 0);
  expect(counted).toBe(rows.length);
  return rows.map(({ micros }) => micros).sort((a, b) => a - b);
}

const writerOn = ({ store, logStore }: OpenClickHouse) => createRequestWriter(store, {}, logStore);

describeOnClickHouse('the request log', (open) => {
  it('loses and doubles nothing while the server is killed and restarted', async () => {
    const server = await sharedClickHouse();
    const states: boolean[] = [];
    const opened = await open({ onState: (error) => states.push(error === null) });
    const { log, writer } = writerOn(opened);
    log.push(...entries(0, 50));
    await writer.flush();
    await opened.logStore.flush();
    log.push(...entries(50, 500));
    // The server ends during this insert, before it or after it.
    const [flushed] = [writer.flush().then(() => opened.logStore.flush()), await server.kill()];
    await flushed;
    for (const first of [550, 650]) {
      log.push(...entries(first, 100));
      await writer.flush();
      await opened.logStore.flush();
    }
    expect([opened.logStore.waiting >= 200, writer.losses.dropped]).toEqual([true, 0]);
    await expect(opened.logStore.list('anna', all, 10, null)).rejects.toMatchObject({ status: 503 });
    await server.start();
    await opened.logStore.flush();
    expect(await stored(opened)).toEqual(upTo(750));
    expect([opened.logStore.waiting, states]).toEqual([0, [false, true]]);
  });

  it('recovers the entries of a gateway that was killed, once each', async () => {
    const opened = await open();
    const program = join(import.meta.dirname, 'clickhouse-writer.ts');
    const child = spawn(process.execPath, [program, opened.folder, '40'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    // As if the server had stored the entries, and the gateway had been killed before it removed the files.
    const copy = temporaryFolder('log-journal');
    cpSync(opened.folder, copy, { recursive: true });
    let recovered = 0;
    const again = new ClickHouseLog(opened.url, copy, {
      retentionHours: RETENTION_HOURS,
      onRecovered: (rows) => {
        recovered += rows;
      },
    });
    for (const log of [opened.logStore, again]) await log.flush();
    await again.stop();
    expect(await stored(opened)).toEqual(upTo(40));
    expect([recovered, readdirSync(opened.folder), readdirSync(copy)]).toEqual([40, [], []]);
  });

  it('drops its oldest entries, and counts them, when its files are full', async () => {
    const opened = await open({ journalMaxBytes: 1_048_576, sendIntervalMs: 3_600_000 });
    const away = new ClickHouseLog('http://127.0.0.1:1/solway', opened.folder, {
      journalMaxBytes: 1_048_576,
    });
    const { log, writer } = createRequestWriter(opened.store, {}, away);
    const params = 'x'.repeat(100_000);
    for (let nth = 0; nth < 30; nth++) log.push(requestEntry({ micros: nth, params }));
    await writer.flush();
    const { dropped } = away.losses;
    expect(dropped).toBeGreaterThan(0);
    expect(away.waiting).toBe(30 - dropped);
    await away.stop();
    await opened.logStore.flush();
    expect(await stored(opened)).toEqual(upTo(30).slice(dropped));
  });

  it('drops only the entries that the server rejects', async () => {
    const opened = await open();
    const { log, writer } = writerOn(opened);
    const [invalid, ...valid] = entries(0, 9);
    log.push(...valid.slice(0, 4), { ...invalid!, rpcCode: 1e30 }, ...valid.slice(4));
    await writer.flush();
    await opened.logStore.flush();
    expect(await stored(opened)).toEqual(upTo(9).slice(1));
    expect([opened.logStore.losses.rejected, opened.logStore.waiting]).toEqual([1, 0]);
  });

  it('hides expired entries and drops their days', async () => {
    const opened = await open({ retentionHours: 30 });
    const server = await sharedClickHouse();
    const { log, writer } = writerOn(opened);
    // Drops nothing, and the next time is not due.
    await opened.logStore.flush();
    const now = Date.now();
    log.push(...[1, 29, 60].map((hours) => requestEntry({ at: now - hours * HOUR_MS, micros: hours })));
    await writer.flush();
    await opened.logStore.flush();
    const { rows } = await opened.logStore.list('anna', { from: 0, to: now }, 10, null);
    expect([rows.map(({ micros }) => micros), await server.countLog(opened.url)]).toEqual([[1, 29], 3]);
    const another = new ClickHouseLog(opened.url, opened.folder, { retentionHours: 30 });
    await another.flush();
    await another.stop();
    expect(await server.countLog(opened.url)).toBe(2);
  });

  it('deletes the entries of deleted customers', async () => {
    const opened = await open();
    const { log, writer } = writerOn(opened);
    log.push(...entries(0, 3), requestEntry({ customerId: 'ben' }));
    await writer.flush();
    await opened.logStore.flush();
    // ClickHouse deletes in the background: two queries in a row may see different rows.
    await eventually(async () => {
      await opened.logStore.deleteCustomers(['anna', 'carl']);
      return (await opened.logStore.list('anna', all, 10, null)).rows.length === 0;
    }, 'the entries are deleted');
    expect((await opened.logStore.list('ben', all, 10, null)).rows).toHaveLength(1);
  });

  it('takes any text literally', async () => {
    const opened = await open();
    const { log, writer } = writerOn(opened);
    const method = `a'\\' or 1=1 --\0\n"é`;
    log.push(requestEntry({ method }), requestEntry());
    await writer.flush();
    await opened.logStore.flush();
    const { rows } = await opened.logStore.list('anna', { ...all, method }, 10, null);
    expect(rows.map((row) => row.method)).toEqual([method]);
    expect((await opened.logStore.list("anna' or '1'='1", all, 10, null)).rows).toEqual([]);
    expect(await opened.logStore.findExamples('anna', all, [method, "') or (1=1"])).toEqual(new Map());
  });

  it('finds the newest example of each error code', async () => {
    const opened = await open();
    const { log, writer } = writerOn(opened);
    const failed = { status: 'rpcError', rpcCode: -32_002 } as const;
    log.push(
      requestEntry({ ...failed, message: 'first' }),
      requestEntry({ ...failed, at: Date.now(), message: 'second' }),
      requestEntry({ status: 'limited', failure: 'RATE_LIMITED', keyId: null }),
      ...entries(0, 2),
    );
    await writer.flush();
    await opened.logStore.flush();
    const codes = ['-32002', 'RATE_LIMITED', 'absent'];
    const found = await opened.logStore.findExamples('anna', all, codes);
    expect([...found].map(([code, { message }]) => [code, message]).sort()).toEqual([
      ['-32002', 'second'],
      ['RATE_LIMITED', null],
    ]);
    expect([
      ...(await opened.logStore.findExamples('anna', { ...all, keys: ['7hQ2mKpZ'] }, codes)).keys(),
    ]).toEqual(['-32002']);
    const { id } = found.get('-32002')!;
    expect(await opened.logStore.find('anna', id)).toMatchObject({ message: 'second' });
    expect(await opened.logStore.find('ben', id)).toBeUndefined();
  });
});
