import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DiskCache } from '../../../src/upstream/off-chain/disk-cache.ts';
import { DocumentMemoryCache } from '../../../src/upstream/off-chain/document.ts';
import { type OffChainLimits, offChainLimits } from '../../../src/upstream/off-chain/limits.ts';
import type { OffChainClient } from '../../../src/upstream/off-chain/off-chain-client.ts';
import { temporaryFolder } from '../../service/program.ts';
import { bytes, type Host, json, neverAborted, openClient, startHost } from './hosts.ts';

let host: Host;
let folder = '';
const clock = { now: 1_800_000_000_000 };
const open: OffChainClient[] = [];

beforeEach(async () => {
  folder = temporaryFolder('off-chain');
  host = await startHost({
    '*': (request, reply) => json({ at: request.url })(request, reply, request.socket),
  });
  clock.now = 1_800_000_000_000;
});

afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
  await host.close();
});

const at = (path: string): string => `http://a.example:${host.port}${path}`;

async function start(limits: Partial<OffChainLimits> = {}): Promise<OffChainClient> {
  const client = await openClient([host.port], { folder, limits, now: () => clock.now });
  open.push(client);
  return client;
}

async function read(client: OffChainClient, ...paths: string[]): Promise<unknown[]> {
  const found = await client.read(paths.map(at), neverAborted);
  return paths.map((path) => found.get(at(path)));
}

const filesIn = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('cached documents', () => {
  it('expire; cached absences expire sooner', async () => {
    const client = await start({ documentTtlMs: 1_000, absenceTtlMs: 100 });
    host.scripts.set('/none', bytes('', {}, 404));
    const both = () => read(client, '/1', '/none');
    expect(await both()).toEqual([{ at: '/1' }, undefined]);
    await both();
    expect(host.requestedPaths.length).toBe(2);
    clock.now += 100;
    await both();
    expect(host.requestedPaths).toEqual(['/1', '/none', '/none']);
    clock.now += 900;
    await read(client, '/1');
    expect(host.requestedPaths.slice(3)).toEqual(['/1']);
  });

  it('are returned without waiting for the others, whose fetches continue', async () => {
    const first = await start();
    await read(first, '/1');
    await first.close();
    const client = await start();
    const release = Promise.withResolvers<void>();
    host.scripts.set('/2', (...given) => void release.promise.then(() => json('late')(...given)));
    const uris = [at('/1'), at('/2'), 'nonsense', 'data:application/json,7'];
    const readCached = async () => Object.fromEntries(await client.read(uris, null));
    expect(await readCached()).toEqual({ [at('/1')]: { at: '/1' }, 'data:application/json,7': 7 });
    expect(uris.filter((uri) => client.isLoading(uri))).toEqual([at('/2')]);
    release.resolve();
    expect(await read(client, '/2')).toEqual(['late']);
    expect(await readCached()).toMatchObject({ [at('/2')]: 'late' });
    expect([client.isLoading(at('/2')), host.requestedPaths]).toEqual([false, ['/1', '/2']]);
  });

  it('are dropped by forget, even on disk and during a fetch', async () => {
    const client = await start();
    await read(client, '/1');
    client.forget(at('/1'));
    await read(client, '/1');
    expect(host.requestedPaths.length).toBe(2);
    const arrived = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    host.scripts.set('/2', (request, reply) => {
      arrived.resolve();
      void release.promise.then(() => json({ old: true })(request, reply, request.socket));
    });
    const reading = read(client, '/2');
    await arrived.promise;
    client.forget(at('/2'));
    host.scripts.delete('/2');
    expect(await read(client, '/2')).toEqual([{ at: '/2' }]);
    release.resolve();
    expect(await reading).toEqual([{ old: true }]);
    expect(await read(client, '/2')).toEqual([{ at: '/2' }]);
    client.forget(at('/2'));
    await client.close();
    expect(filesIn().length).toBe(1);
  });

  it('are private files whose names a URI cannot control', async () => {
    const client = await start();
    await read(client, '/../../../etc/passwd', '/%2e%2e%2f..%5c', `/${'x'.repeat(1_500)}`);
    await client.close();
    const files = filesIn();
    expect(files.length).toBe(3);
    for (const file of files) {
      expect(file.slice(folder.length)).toMatch(/^\/([0-9a-f]{2})\/\1[0-9a-f]{62}$/);
      expect(statSync(file).mode & 0o077).toBe(0);
    }
  });

  it.each([
    ['truncated', (file: string) => truncateSync(file, statSync(file).size - 1)],
    ['changed', (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('/1"}', '/9"}'))],
    ['huge', (file: string) => truncateSync(file, 1024 ** 3)],
  ])('are fetched again when their file is %s', async (_, damage) => {
    const first = await start();
    await read(first, '/1');
    await first.close();
    for (const file of filesIn()) damage(file);
    const second = await start({ diskMaxBytes: 2 * 1024 ** 3 });
    expect(await read(second, '/1')).toEqual([{ at: '/1' }]);
    expect(host.requestedPaths.length).toBe(2);
    await second.close();
    expect(await read(await start(), '/1')).toEqual([{ at: '/1' }]);
    expect(host.requestedPaths.length).toBe(2);
  });

  it('work without a writable disk', async () => {
    const client = await start();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file in place of the folder');
    expect(await read(client, '/1')).toEqual([{ at: '/1' }]);
    await client.close();
  });
});

describe('disk cache', () => {
  const now = (): number => clock.now;
  const entry = (text: string) => ({ document: Buffer.from(text), until: clock.now + 1 });
  const openDisk = (limits: Partial<OffChainLimits>) =>
    DiskCache.open(folder, { ...offChainLimits, ...limits }, now);

  it('limits the number of files, evicting the least recently used', async () => {
    const cache = await openDisk({ diskFilesMax: 3 });
    for (const uri of ['a', 'b', 'c']) await cache.set(uri, entry(uri));
    await cache.get('a');
    await cache.set('d', entry('d'));
    expect([await cache.get('b'), (await cache.get('a')) === null]).toEqual([null, false]);
    expect([cache.files, filesIn().length]).toEqual([3, 3]);
  });

  it('limits the size, including existing files', async () => {
    const cache = await openDisk({ diskMaxBytes: 50_000 });
    for (let i = 0; i < 30; i++) await cache.set(`u${i}`, entry('x'.repeat(5_000)));
    const sizes = filesIn().map((file) => statSync(file).size);
    expect(cache.bytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
    expect(cache.bytes).toBeLessThanOrEqual(50_000);
    expect(cache.files).toBeGreaterThan(7);
    const reopened = await openDisk({ diskMaxBytes: 20_000 });
    expect(reopened.bytes).toBeLessThanOrEqual(20_000);
    expect(filesIn().length).toBe(reopened.files);
    expect(await reopened.get('u29')).not.toBeNull();
  });

  it('deletes incomplete files of a killed process, and nothing else', async () => {
    const cache = await openDisk({});
    await cache.set('a', entry('a'));
    const [file = ''] = filesIn();
    writeFileSync(`${file}.123.abcd.draft`, 'half');
    writeFileSync(join(folder, 'notes'), 'mine');
    const reopened = await openDisk({});
    expect(reopened.files).toBe(1);
    expect(filesIn().sort()).toEqual([file, join(folder, 'notes')].sort());
  });
});

describe('memory cache', () => {
  it('limits its size, evicting the least recently used', () => {
    const cache = new DocumentMemoryCache(10_000, () => 0);
    const entry = { document: Buffer.alloc(2_000), until: 1 };
    for (const uri of ['a', 'b', 'c', 'd']) cache.set(uri, entry);
    cache.get('a');
    cache.set('e', entry);
    expect(['a', 'b', 'c', 'd', 'e'].filter((uri) => cache.get(uri) === null)).toEqual(['b']);
    for (let i = 0; i < 1_000; i++) cache.set(`n${i}`, { document: null, until: 1 });
    expect(cache.bytes).toBeLessThanOrEqual(10_000);
    cache.set('huge', { document: Buffer.alloc(20_000), until: 1 });
    expect(cache.get('huge')).toBeNull();
    expect(cache.bytes).toBe(0);
  });
});
