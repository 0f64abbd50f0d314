import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, it, onTestFinished, vi } from 'vitest';
import { errorText } from '../../../src/app/error-text.ts';
import { ClickHouse } from '../../../src/control/clickhouse/client.ts';
import { ClickHouseTables } from '../../../src/control/clickhouse/tables.ts';
import type { Store } from '../../../src/control/database/store.ts';
import { FailureState } from '../../../src/control/failure-state.ts';
import { clickHouseSink } from '../../../src/control/usage/clickhouse/usage-sink.ts';
import type { RecoveredJournal } from '../../../src/control/usage/usage-journal.ts';
import {
  journalLine,
  readJournalLine,
  recoverJournals,
  UsageJournal,
} from '../../../src/control/usage/usage-journal.ts';
import { databaseSink, RejectedRows } from '../../../src/control/usage/usage-rows.ts';
import { UsageWriter, type UsageWriterOptions } from '../../../src/control/usage/usage-writer.ts';
import type { KeyId } from '../../../src/gateway/auth/key-record.ts';
import { UsageMeter } from '../../../src/gateway/metering/usage-meter.ts';
import type { Network } from '../../../src/protocol/call.ts';
import { temporaryFolder } from '../../service/program.ts';
import { fail, isInsert, send, startFakeClickHouse } from '../fake-clickhouse.ts';
import { describeOnBothStores, describeOnSqlite } from '../stores.ts';
import { usageRow, write } from './usage-fixture.ts';

const root = temporaryFolder('journal');
let folders = 0;
const newFolder = (): string => join(root, String(++folders));

const RECENT = Math.floor(Date.now() / 60_000) * 60_000 - 600_000;
const key = { id: 'AAAAAAAA' as KeyId };
const call = {
  key,
  product: 'rpc',
  method: 'getSlot',
  status: 'ok',
  network: 'devnet',
  code: 0,
  bytesIn: 1,
  bytesOut: 1,
  credits: 1,
} as const;

/** A writer for a meter, with a switch that makes the store fail. */
function writerOn(store: Store, journalFolder: string, options: Partial<UsageWriterOptions> = {}) {
  const meter = new UsageMeter();
  const outage = { now: false };
  const recovered: RecoveredJournal[] = [];
  const watched = {
    ...store,
    get db() {
      if (outage.now) throw new Error('the database is unreachable');
      return store.db;
    },
  };
  const all = {
    sink: databaseSink(watched),
    source: meter,
    journalFolder,
    onJournalRecovered: (one: RecoveredJournal) => void recovered.push(one),
  };
  const use = (count: number, atMs = RECENT) => {
    for (let done = 0; done < count; done++) meter.record({ ...call, latencyMicros: 500 }, atMs);
  };
  return { writer: new UsageWriter({ ...all, ...options }), meter, use, outage, recovered };
}

/** Prototype of file handles, which tests patch to make the disk slow or full. */
async function openFiles(): Promise<FileHandle> {
  const file = await openFile(root);
  await file.close();
  return Object.getPrototypeOf(file) as FileHandle;
}

const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => readJournalLine(line));

async function requestsOf(store: Store): Promise<number> {
  const rows = await store.db.selectFrom('usage_minute').select('requests').execute();
  return rows.reduce((sum, { requests }) => sum + requests, 0);
}

/** Copies a journal to that of a process that has ended. */
function copyAsDeadJournal(folder: string): string {
  const [name = ''] = readdirSync(folder);
  const dead = join(folder, `another-boot.1.1.${crypto.randomUUID()}.jsonl`);
  writeFileSync(dead, readFileSync(join(folder, name)));
  return dead;
}

it('a journal line of an older version is read without network and code', () => {
  const { network: _, code: _code, ...counted } = usageRow();
  const { minute, keyId, product, method, status, requests, bytesIn, bytesOut, ...rest } = counted;
  const fields = [minute, keyId, product, method, status, requests, bytesIn, bytesOut];
  const text = JSON.stringify([...fields, rest.credits, rest.messages, rest.latency]);
  const line = `${crc32(text).toString(16).padStart(8, '0')} ${text}`;
  expect(readJournalLine(line)).toEqual({ ...counted, network: null, code: '' });
});

it('a journal line of any network name is read, because the network may have been removed', () => {
  const readBack = (network: string) =>
    readJournalLine(journalLine(usageRow({ network: network as Network })).trimEnd())?.network;
  expect([readBack('removed-1'), readBack('not a name')]).toEqual(['removed-1', undefined]);
});

it('an interrupted write does not corrupt any line of the usage journal', async () => {
  const folder = newFolder();
  const journal = new UsageJournal(folder, 'epoch');
  const [one, two] = [usageRow({ requests: 1 }), usageRow({ requests: 2 })];
  await journal.append([one], [one]);
  const [name = ''] = readdirSync(folder);
  const path = join(folder, name);
  const before = readFileSync(path);
  using disk = vi.spyOn(await openFiles(), 'appendFile');
  disk.mockImplementationOnce(async function (this: FileHandle, text) {
    await this.write((text as Buffer).subarray(0, 20));
    throw new Error('ENOSPC');
  });
  await expect(journal.append([two], [one, two])).rejects.toThrow('ENOSPC');
  expect([readFileSync(path), journal.bytes]).toEqual([before, before.length]);
  await journal.append([two], [one, two]);
  expect(linesOf(path)).toEqual([one, two]);
  await journal.close();
});

/** A run that was killed with a row in its journal. */
async function killedRun(store: Store, folder: string) {
  const one = writerOn(store, folder);
  one.outage.now = true;
  one.use(1);
  await one.writer.flush();
  return { one, journal: copyAsDeadJournal(folder) };
}

describeOnBothStores('the usage journal', ({ kind, open }) => {
  it('keeps rows that arrive between the last write and the truncation', async () => {
    const [store, folder] = [await open(), newFolder()];
    const { writer, use, outage } = writerOn(store, folder);
    // SQLite has a journal only after a failure.
    outage.now = true;
    use(1);
    await writer.flush();
    outage.now = false;
    const waits: (() => void)[] = [];
    using disk = vi.spyOn(await openFiles(), 'datasync');
    disk.mockImplementation(() => new Promise<void>((done) => waits.push(done)));
    const flushes: Promise<void>[] = [];
    const flushOne = (minute: number) => {
      use(1, RECENT + minute * 60_000);
      flushes.push(writer.flush());
    };
    flushOne(1);
    await expect.poll(() => waits.length).toBe(1);
    flushOne(2);
    flushOne(3);
    waits[0]?.();
    // The first flush stores the rows of all three, while the second syncs the journal and the third waits.
    await expect.poll(() => [waits.length, writer.pendingRows]).toEqual([2, 0]);
    outage.now = true;
    flushOne(4);
    disk.mockImplementation(async () => undefined);
    waits[1]?.();
    await Promise.all(flushes);
    const [name = ''] = readdirSync(folder);
    expect(linesOf(join(folder, name)).at(-1)).toMatchObject({ minute: RECENT / 60_000 + 4, requests: 1 });
    expect([writer.pendingRows, await requestsOf(store)]).toEqual([1, 4]);
    await writer.stop();
  });

  it('is written before rows are sent to a database server, and with SQLite only after a failure', async () => {
    const [store, folder] = [await open(), newFolder()];
    const { writer, use, outage } = writerOn(store, folder);
    use(1);
    await writer.flush();
    expect(existsSync(folder)).toBe(kind === 'postgres');
    outage.now = true;
    use(1);
    await writer.flush();
    expect(readdirSync(folder)).toHaveLength(1);
    await writer.stop();
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('is recovered by the next start under its own epoch, only once', async () => {
    const [store, folder] = [await open(), newFolder()];
    const one = writerOn(store, folder);
    one.use(2);
    await one.writer.flush();
    one.outage.now = true;
    one.use(3);
    await one.writer.flush();
    one.use(1, RECENT + 60_000);
    await one.writer.flush();
    const journal = copyAsDeadJournal(folder);
    const retained = readFileSync(journal);
    const epoch = journal.split('.').at(-2);
    for (let start = 0; start < 2; start++) {
      writeFileSync(journal, retained);
      const two = writerOn(store, folder);
      await two.writer.flush();
      expect(two.recovered).toMatchObject([{ corruptLines: 0, lateRows: 0 }]);
      expect(existsSync(journal)).toBe(false);
      await two.writer.stop();
      const rows = await store.db
        .selectFrom('usage_minute')
        .select('requests')
        .where('epoch', '=', epoch!)
        .execute();
      expect(rows.map(({ requests }) => requests).toSorted()).toEqual([1, 5]);
    }
    await one.writer.stop();
  });

  it('of an earlier run stays until the store works, which is no failure of the journal', async () => {
    const [store, folder] = [await open(), newFolder()];
    const { one, journal } = await killedRun(store, folder);
    const states: string[] = [];
    const two = writerOn(store, folder, {
      onJournalState: () => void states.push('journal'),
      onRecoveryState: (error) => void states.push(String(error)),
    });
    two.outage.now = true;
    await two.writer.flush();
    expect([states, existsSync(journal)]).toEqual([['Error: the database is unreachable'], true]);
    await Promise.all([one, two].map(({ writer }) => writer.stop()));
  });

  // The remaining tests do not depend on the SQL dialect.
  if (kind === 'postgres') return;

  it('holds rows until they are stored, and is removed when its process stops', async () => {
    const [store, folder] = [await open(), newFolder()];
    const { writer, use, outage } = writerOn(store, folder);
    outage.now = true;
    use(3);
    await writer.flush();
    const [name = ''] = readdirSync(folder);
    const path = join(folder, name);
    expect([statSync(path).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readJournalLine(readFileSync(path, 'utf8').trimEnd())).toMatchObject({
      keyId: 'AAAAAAAA',
      requests: 3,
    });
    outage.now = false;
    use(1);
    await writer.flush();
    expect([await requestsOf(store), statSync(path).size]).toEqual([4, 0]);
    await writer.stop();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describeOnSqlite('a usage journal file', ({ open }) => {
  it('is read without its incomplete last line, and past damaged lines, which are reported', async () => {
    const [store, folder] = [await open(), newFolder()];
    const { one, journal } = await killedRun(store, folder);
    const line = (minute: number) =>
      journalLine(usageRow({ minute: RECENT / 60_000 + minute, requests: 10 }));
    const torn = line(1).slice(0, -20);
    appendFileSync(
      journal,
      `${line(2)}${line(3).replace('getSlot', 'getSl0t')}\0\0\0\n${'x'.repeat(300_000)}\n${line(4)}${torn}`,
    );
    const two = writerOn(store, folder);
    await two.writer.flush();
    expect(two.recovered).toMatchObject([{ rows: 3 }]);
    expect(two.recovered[0]?.corruptLines).toBeGreaterThanOrEqual(2);
    expect(await requestsOf(store)).toBe(21);
    await Promise.all([one.writer.stop(), two.writer.stop()]);
  });

  it('stays within its size limit, and keeps the newest state of every pending row', async () => {
    const [store, folder] = [await open(), newFolder()];
    const { writer, use, outage } = writerOn(store, folder, { journalMaxBytes: 400 });
    outage.now = true;
    for (let flush = 1; flush <= 20; flush++) {
      use(1);
      await writer.flush();
    }
    const [name = ''] = readdirSync(folder);
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
    expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(400);
    expect(readJournalLine(lines.at(-1)!)).toMatchObject({ requests: 20 });
    for (let minute = 1; minute < 8; minute++) use(1, RECENT + minute * 60_000);
    await writer.flush();
    expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(400);
    expect(writer.losses.journalOverflowRows).toBeGreaterThan(0);
    expect(readdirSync(folder)).toEqual([name]);
    outage.now = false;
    await writer.stop();
    expect(await requestsOf(store)).toBe(27);
  });

  it('is not recovered while its process is alive, and recreated after a wrong recovery deletes it', async () => {
    const [store, folder] = [await open(), newFolder()];
    const [one, two] = [writerOn(store, folder), writerOn(store, folder)];
    one.outage.now = true;
    one.use(4);
    await one.writer.flush();
    await two.writer.flush();
    expect([two.recovered, await requestsOf(store)]).toEqual([[], 0]);
    const [name = ''] = readdirSync(folder);
    rmSync(join(folder, name));
    one.use(1);
    await one.writer.flush();
    expect(readJournalLine(readFileSync(join(folder, name), 'utf8').trimEnd())).toMatchObject({
      requests: 5,
    });
    await Promise.all([one.writer.stop(), two.writer.stop()]);
  });
});

describeOnSqlite('usage that the store rejects', ({ open }) => {
  it('does not block other usage, and stays in its journal', async () => {
    const [store, folder] = [await open(), newFolder()];
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let poison = 'getSlot';
    const rowsOf = new Map<string, number>();
    const fake = await startFakeClickHouse((statement, response, _, rows) => {
      if (!isInsert(statement)) return send(response);
      if (rows.includes(`"${poison}"`)) return fail(response, 27);
      for (const line of rows.trim().split('\n')) {
        const { method, requests } = JSON.parse(line) as { method: string; requests: number };
        rowsOf.set(method, requests);
      }
      send(response);
    });
    const server = new ClickHouse(fake.url);
    const tables = new ClickHouseTables(server, []);
    const sink = clickHouseSink(store, server, tables, new FailureState());
    const states: string[] = [];
    const one = writerOn(store, folder, {
      sink: { ...sink, batchRows: 4 },
      onStoreState: (error) => states.push(`store ${error}`),
      onRejectedState: (error) => states.push(error === null ? 'accepted' : errorText(error)),
    });
    const record = (method: string) => one.meter.record({ ...call, method, latencyMicros: 500 }, RECENT);
    for (const method of ['getSlot', 'getBlock', 'getHealth', 'getEpochInfo', 'getSupply']) record(method);
    await one.writer.flush();
    record('getSlot');
    record('getBlock');
    await one.writer.flush();
    expect([one.writer.pendingRows, one.writer.hasRejectedRows]).toEqual([1, true]);
    expect(states).toEqual([expect.stringMatching(/^1 usage rows were rejected.*: it failed/)]);
    expect([rowsOf.size, rowsOf.get('getBlock'), rowsOf.has('getSlot')]).toEqual([4, 2, false]);
    const marks = () => store.db.selectFrom('usage_mark').select('token').execute();
    const before = await marks();
    const [orphan, other] = [copyAsDeadJournal(folder), copyAsDeadJournal(folder)];
    writeFileSync(other, journalLine(usageRow({ method: 'getVersion' })));
    const recovered: number[] = [];
    const recover = () => recoverJournals(sink, folder, ({ rows }) => recovered.push(rows));
    expect((await recover())?.rows).toMatchObject([{ method: 'getSlot' }]);
    expect([existsSync(orphan), existsSync(other), rowsOf.size]).toEqual([true, false, 5]);
    // Only the rejected row is left to send, which makes no hour stale.
    expect(linesOf(orphan)).toMatchObject([{ method: 'getSlot', requests: 2 }]);
    const afterFirst = await marks();
    expect(afterFirst).not.toEqual(before);
    await recover();
    expect([await marks(), recovered.toSorted()]).toEqual([afterFirst, [1, 4]]);
    poison = 'none';
    await recover();
    expect([existsSync(orphan), rowsOf.get('getSlot')]).toEqual([false, 2]);
    await one.writer.flush();
    expect(one.writer.pendingRows).toBe(1);
    vi.advanceTimersByTime(60_000);
    await one.writer.flush();
    expect([one.writer.pendingRows, one.writer.hasRejectedRows, states.slice(1)]).toEqual([
      0,
      false,
      ['accepted'],
    ]);
    await one.writer.stop();
    await server.close();
    fake.close();
  });

  it('does not stay marked as rejected if it is dropped during the write', async () => {
    await open();
    const meter = new UsageMeter();
    const use = (minute: number) => meter.record({ ...call, latencyMicros: 500 }, RECENT + minute * 60_000);
    let isFirst = true;
    const writer: UsageWriter = new UsageWriter({
      source: meter,
      pendingRowsMax: 1,
      sink: {
        ...{ batchRows: 10, isJournaledFirst: false },
        async write(_, rows) {
          if (!isFirst) return 0;
          isFirst = false;
          use(1);
          // Collects the second row, which displaces the first, and waits for this write.
          void writer.flush();
          throw new RejectedRows(rows, 0, null);
        },
      },
    });
    use(0);
    await writer.flush();
    await writer.flush();
    expect([writer.losses.lostRows, writer.pendingRows, writer.hasRejectedRows]).toEqual([1, 0, false]);
    await writer.stop();
  });

  it('does not keep stored rows in the journal', async () => {
    const journal = new UsageJournal(newFolder(), 'epoch');
    const rejected = usageRow({ method: 'getSlot' });
    const others = Array.from({ length: 20_000 }, (_, minute) => usageRow({ minute }));
    await journal.append([rejected, ...others], []);
    await journal.compact([rejected]);
    const size = journal.bytes;
    expect(size).toBe(journalLine(rejected).length);
    await journal.append([rejected], []);
    await journal.compact([rejected]);
    expect(journal.bytes).toBe(2 * size);
    await journal.close();
  });

  it('of an earlier run is retried soon after the store could not be reached', async () => {
    const [store, folder] = [await open(), newFolder()];
    const { one, journal } = await killedRun(store, folder);
    const two = writerOn(store, folder);
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    two.outage.now = true;
    await two.writer.flush();
    two.outage.now = false;
    await two.writer.flush();
    expect(existsSync(journal)).toBe(true);
    vi.advanceTimersByTime(2_000);
    await two.writer.flush();
    expect(existsSync(journal)).toBe(false);
    await Promise.all([one, two].map(({ writer }) => writer.stop()));
  });
});

describeOnBothStores('the usage writer', ({ open }) => {
  const totals = async ({ db }: Store) =>
    db
      .selectFrom('usage_minute')
      .select((row) => [
        row.fn.countAll<number>().as('rows'),
        ...(['requests', 'bytes_in', 'bytes_out', 'credits'] as const).map((name) =>
          row.cast<number>(row.fn.sum(name), 'bigint').as(name),
        ),
      ])
      .executeTakeFirstOrThrow();

  it('stores usage as counted, across minutes, methods, statuses and error codes', async () => {
    const store = await open();
    const { meter, writer } = writerOn(store, newFolder(), {
      sink: { ...databaseSink(store), batchRows: 2 },
    });
    for (let count = 0; count < 90; count++) {
      const method = ['getSlot', 'getBalance', 'unheardOf'][count % 3]!;
      const status = count % 2 ? 'ok' : 'upstream';
      const code = count % 2 ? 0 : -32_000 - (count % 4);
      meter.record({ ...call, method, status, code, latencyMicros: 500 }, RECENT + count * 2_000);
      if (count % 7 === 0) await writer.flush();
    }
    meter.record({ ...call, key: null, bytesIn: 10, bytesOut: 20, latencyMicros: 500 }, RECENT + 200_000);
    await writer.stop();
    expect(await totals(store)).toMatchObject({ requests: 91, bytes_in: 100, bytes_out: 110, credits: 91 });
    const methods = await store.db.selectFrom('usage_minute').select('method').distinct().execute();
    expect(methods.map(({ method }) => method).toSorted()).toEqual(['getBalance', 'getSlot', 'other']);
    const codes = store.db.selectFrom('usage_minute').select(['network', 'code']).distinct().orderBy('code');
    expect(await codes.execute()).toEqual(
      ['', '-32000', '-32002'].map((code) => ({ network: 'devnet', code })),
    );
    expect(writer.pendingRows).toBe(0);
  });

  it('raises a row even if only one counter grows, and never lowers it for late rows', async () => {
    const store = await open();
    const columns = { requests: 'requests', messages: 'messages', credits: 'credits' } as const;
    const all = { ...columns, bytesIn: 'bytes_in', bytesOut: 'bytes_out' };
    for (const [count, column] of Object.entries(all)) {
      const row = (value: number) => ({ ...usageRow(), [count]: value });
      for (const value of [300, 400, 300]) await write(store, [row(value)], count);
      const query = store.db.selectFrom('usage_minute').selectAll().where('epoch', '=', count);
      expect(await query.execute()).toMatchObject([{ [column]: 400 }]);
    }
  });

  it('drops and counts the oldest rows when the store is unreachable for too long', async () => {
    const store = await open();
    const { use, writer, outage } = writerOn(store, newFolder(), { pendingRowsMax: 3 });
    outage.now = true;
    for (let count = 0; count < 5; count++) {
      use(1, RECENT + count * 60_000);
      await writer.flush();
    }
    outage.now = false;
    await writer.flush();
    expect([writer.losses.lostRows, await totals(store)]).toMatchObject([2, { rows: 3 }]);
  });
});
