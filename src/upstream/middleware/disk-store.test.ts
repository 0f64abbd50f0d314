import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../test/service/program.ts';
import { DiskStore, diskStoreLimits } from './disk-store.ts';

const SET_BYTES = 64 * 1024;

let path: string;
beforeEach(() => {
  path = join(temporaryFolder('disk-store'), 'finalized.cache');
});
afterEach(() => void vi.useRealTimers());

/** Uses a store of its own, as another worker or a later process does. */
async function inStore<T>(use: (store: DiskStore) => T, sets = 8): Promise<T> {
  const store = new DiskStore(path, sets * SET_BYTES, (error) => expect.unreachable(String(error)));
  const result = await use(store);
  await store.close();
  return result;
}

const readFrom = (store: DiskStore, keys: readonly string[]): Promise<(string | null)[]> =>
  Promise.all(
    keys.map(async (key) => {
      const body = await new Promise<Buffer | null>((resolve) => store.get(key, resolve));
      return body && String(body);
    }),
  );

const readAll = (keys: readonly string[], sets?: number) => inStore((store) => readFrom(store, keys), sets);

/** Text of a few KB that hardly compresses. */
const bodyOf = (key: string): string =>
  Array.from({ length: 60 }, (_, n) => createHash('sha256').update(`${key} ${n}`).digest('hex')).join();

const write = (key: string, sets?: number) =>
  inStore((store) => store.set(key, Buffer.from(bodyOf(key))), sets);

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `key ${n}`);

it('never exceeds its size, and replaces the oldest response', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const keys = numbered(12);
  for (const [n, key] of keys.entries()) {
    vi.setSystemTime(n * 1_000);
    await write(key, 1);
  }
  await inStore((store) => {
    store.set('large', Buffer.alloc(1024 * 1024 + 1));
    store.set('incompressible', Buffer.from(numbered(40).map(bodyOf).join('')));
  }, 1);
  expect(await readAll(keys, 1)).toEqual(keys.map((key, n) => (n < 8 ? null : bodyOf(key))));
  expect(statSync(path).size).toBe(SET_BYTES);
});

it('treats a response as absent after 30 days', async () => {
  await write('a');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30 * 24 * 3_600_000 - 60_000 });
  expect(await readAll(['a'])).toEqual([bodyOf('a')]);
  vi.setSystemTime(Date.now() + 62_000);
  expect(await readAll(['a'])).toEqual([null]);
});

it('leaves space on the disk for other programs', async () => {
  const { freeMinBytes } = diskStoreLimits;
  diskStoreLimits.freeMinBytes = Number.POSITIVE_INFINITY;
  await write('a').finally(() => (diskStoreLimits.freeMinBytes = freeMinBytes));
  expect(await readAll(['a'])).toEqual([null]);
});

it('treats a damaged or truncated file as absent', async () => {
  await write('a');
  const intact = readFileSync(path);
  const start = intact.findIndex((byte) => byte !== 0);
  for (let at = start; at < start + 2_500; at += 31) {
    const damaged = Buffer.from(intact);
    damaged[at]! ^= 0x55;
    writeFileSync(path, damaged);
    expect([null, bodyOf('a')]).toContain((await readAll(['a']))[0]);
  }
  for (const length of [0, start + 3, start + 40, start + 2_000]) {
    writeFileSync(path, intact);
    truncateSync(path, length);
    expect(await readAll(['a'])).toEqual([null]);
  }
  writeFileSync(path, Buffer.alloc(intact.length, 0xff));
  await write('a');
  expect(await readAll(['a'])).toEqual([bodyOf('a')]);
});

it('returns whole responses or none after several writers were killed', async () => {
  const keys = numbered(24);
  const script = `
    const { DiskStore } = await import(${JSON.stringify(join(import.meta.dirname, 'disk-store.ts'))});
    const responses = ${JSON.stringify(keys.map((key) => [key, bodyOf(key)]))};
    for (let round = 0; ; round++) {
      const store = new DiskStore(${JSON.stringify(path)}, ${8 * SET_BYTES}, () => {});
      for (const [key, body] of responses) store.set(key, Buffer.from(body));
      await store.close();
      console.log(round);
    }`;
  const writers = [1, 2, 3].map(() =>
    spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  await Promise.all(writers.map(({ stdout }) => once(stdout, 'data')));
  for (const writer of writers) writer.kill('SIGKILL');
  await Promise.all(writers.map((writer) => once(writer, 'exit')));
  const found = await readAll(keys);
  expect(found.filter((body) => body !== null).length).toBeGreaterThan(8);
  for (const [n, body] of found.entries()) expect([null, bodyOf(keys[n]!)]).toContain(body);
});

it('stays empty if the file cannot be opened', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const store = new DiskStore(join(path, 'absent'), SET_BYTES, resolve);
  expect(await promise).toMatchObject({ code: 'ENOENT' });
  store.set('a', Buffer.from('1'));
  await store.close();
  expect(await readFrom(store, ['a'])).toEqual([null]);
});
