import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BackupError, restoreBackup, takeBackup } from '../../src/control/database/backup/backup.ts';
import { readBackupFile, writeBackupFile } from '../../src/control/database/backup/backup-file.ts';
import { openDatabase } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { createKey } from '../../src/control/keys/create-key.ts';
import { temporaryFolder } from '../service/program.ts';
import { postgresPrograms, sharedPostgres } from './postgres-server.ts';
import { registerOn } from './register.ts';
import { describeOnBothStores } from './stores.ts';

const folder = temporaryFolder('backup');
let files = 0;
const newFile = (): string => join(folder, `${++files}.gz`);

async function fill(store: Store): Promise<void> {
  const register = await registerOn(store);
  for (const name of ["O'Brien", 'ключ "ü" 🔑', 'a\\b\tc'.replace('\t', ' '), 'a\u2028b']) {
    await createKey(register, { product: 'rpc', name });
  }
  for (let from = 0; from < 2_100; from += 300) {
    const minutes = Array.from({ length: 300 }, (_, at) => ({
      ...{ minute: 29_000_000 + from + at, epoch: 'e', key_id: '', customer_id: 'house', plan_id: '' },
      ...{ product: 'rpc' as const, method: 'getSlot', status: 'ok' as const, requests: from + at },
      ...{
        bytes_in: 2 ** 52,
        bytes_out: 1,
        credits: 1,
        messages: 0,
        latency: '3:1',
        network: '' as const,
        code: '',
      },
    }));
    await store.db.insertInto('usage_minute').values(minutes).execute();
  }
  await fillRest(store);
}

/** Runtime state, deliberately excluded from backups. */
const leftOut = new Set([
  ...['schema_migration', 'auth_tried_code', 'usage_claim', 'lagged_minute'],
  ...['gateway', 'connection', 'connection_close'],
]);

/** Adds a row to each empty table; repeats, because foreign keys need other rows first. */
async function fillRest(store: Store): Promise<void> {
  const sampleOf = (name: string, dataType: string): string | number => {
    if (name === 'customer_id') return 'house';
    if (name === 'plan_id') return 'default';
    return /text|char/i.test(dataType) ? 'x' : 7;
  };
  for (const _try of [1, 2, 3]) {
    const counts = await rowsOf(store);
    for (const { name, columns } of await store.db.introspection.getTables()) {
      if (counts[name] !== 0) continue;
      const row = columns.map((column) => [column.name, sampleOf(column.name, column.dataType)]);
      await store.db
        .insertInto(name as 'audit')
        .values(Object.fromEntries(row))
        .execute()
        .catch(() => undefined);
    }
  }
  const empty = Object.entries(await rowsOf(store)).filter(([, rows]) => rows === 0);
  expect(empty).toEqual([]);
}

async function rowsOf(store: Store): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name } of await store.db.introspection.getTables()) {
    if (leftOut.has(name)) continue;
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(name)}`.execute(store.db);
    counts[name] = Number(rows[0]?.n);
  }
  return counts;
}

describeOnBothStores('a backup', ({ open }) => {
  it('is not restored into a database in use', async () => {
    const store = await open();
    await createKey(await registerOn(store), { product: 'rpc', name: 'x' });
    const before = await rowsOf(store);
    await expect(restoreBackup(store, takeBackup(await open()))).rejects.toThrow(
      /is not empty: table api_key has rows/,
    );
    expect(await rowsOf(store)).toEqual(before);
  });
});

describe.skipIf(postgresPrograms === null)('a move to PostgreSQL (skipped where it is not installed)', () => {
  it('loses no row in either direction', async () => {
    const server = await sharedPostgres();
    const [from, back] = [join(folder, 'from.db'), join(folder, 'back.db')];
    const stores = [
      await openDatabase({ file: from }),
      await openDatabase({ url: await server.createDatabase() }),
      await openDatabase({ file: back }),
    ] as const;
    try {
      await fill(stores[0]);
      const there = await restoreBackup(stores[1], takeBackup(stores[0]));
      const again = await restoreBackup(stores[2], takeBackup(stores[1]));
      expect(again).toEqual(there);
      expect(await rowsOf(stores[2])).toEqual(await rowsOf(stores[0]));
    } finally {
      for (const store of stores) await store.close();
    }
  });
});

describe('a backup file', () => {
  const original = newFile();
  let store: Store;
  beforeAll(async () => {
    store = await openDatabase({ file: join(folder, `${++files}.db`) });
    await fill(store);
    await writeBackupFile(store, original);
  });
  afterAll(() => store.close());
  const fresh = (): Promise<Store> => openDatabase({ file: join(folder, `${++files}.db`) });

  it('is readable by its owner only, and never overwrites an existing file', async () => {
    expect(statSync(original).mode & 0o777).toBe(0o600);
    const before = readFileSync(original);
    await expect(writeBackupFile(store, original)).rejects.toThrow(
      / already exists\. Choose another name\.$/,
    );
    expect(readFileSync(original)).toEqual(before);
  });

  it.each<[string, (file: string) => void, RegExp]>([
    ['cut short', (file) => truncateSync(file, Math.floor(statSync(file).size / 2)), /corrupt|incomplete/],
    ['of another kind', (file) => writeFileSync(file, gzipSync('{"hello":1}\n')), /is not a Solway backup/],
    [
      'with a row missing',
      (file) => rewrite(file, (text) => text.replace(/,\[[^[\]]*"getSlot"[^[\]]*\]/, '')),
      /differ from/,
    ],
    [
      'without its end',
      (file) => rewrite(file, (text) => text.replace('{"end":true}\n', '')),
      /is incomplete/,
    ],
    [
      'of a newer schema',
      (file) => rewrite(file, (text) => text.replace(/"schema":\d+/, '"schema":999')),
      /has schema 999/,
    ],
    ['missing', (file) => rmSync(file), /There is no file .*\.gz\. Give the path of a backup/],
  ])('that is %s is rejected, and the database stays empty', async (_, spoil, words) => {
    const file = newFile();
    copyFileSync(original, file);
    spoil(file);
    const empty = await fresh();
    const fault = await restoreBackup(empty, readBackupFile(file)).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(BackupError);
    expect((fault as Error).message).toMatch(words);
    expect(await rowsOf(empty)).toMatchObject({ api_key: 0, usage_minute: 0, customer: 1 });
    await empty.close();
  });
});

function rewrite(file: string, change: (text: string) => string): void {
  writeFileSync(file, gzipSync(change(gunzipSync(readFileSync(file)).toString('utf8'))));
}
