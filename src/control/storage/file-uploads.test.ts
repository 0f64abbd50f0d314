import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/service/program.ts';
import { Failure } from '../../protocol/errors.ts';
import type { StorageLimits } from './file-store.ts';
import { type EmbeddedStorage, openEmbeddedStorage } from './open-storage.ts';

const never = new AbortController().signal;
const sent = { name: 'a.txt', type: 'text/plain', ownerId: 'family' };
const HELLO = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e';

let folder: string;
let storage: EmbeddedStorage;

async function open(limits: Partial<StorageLimits> = {}): Promise<void> {
  storage = await openEmbeddedStorage({ folder, uriPrefix: () => 'https://x.example/ipfs/', limits });
}

beforeEach(async () => {
  folder = temporaryFolder('storage');
  await open();
});

async function* pieces(...texts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

function pausedSource(text: string): { bytes: AsyncIterable<Uint8Array>; go: () => void } {
  const gate = Promise.withResolvers<void>();
  const bytes = (async function* () {
    yield Buffer.from(text);
    await gate.promise;
  })();
  return { bytes, go: gate.resolve };
}

const put = (bytes: AsyncIterable<Uint8Array>, about: Partial<typeof sent> = {}, signal = never) =>
  storage.uploads.put(bytes, { ...sent, ...about }, signal);

const inFolder = (name: string): string[] =>
  readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();

const onDisk = (): string[] => inFolder('.');

async function read(cid: string): Promise<{ text: string; name: string | null; type: string } | null> {
  const file = await storage.fileStore.open(cid);
  if (file === null) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.read(0, file.bytes)) chunks.push(chunk);
  await file.close();
  return { text: Buffer.concat(chunks).toString(), name: file.name, type: file.type };
}

const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (failure: unknown) => (failure instanceof Failure ? failure.code : failure),
  );

describe('a stored file', () => {
  it('has its CID and URI, and unchanged bytes', async () => {
    const stored = await put(pieces('hello', ' ', 'world'));
    expect(stored).toEqual({ cid: HELLO, uri: `https://x.example/ipfs/${HELLO}` });
    expect(await read(HELLO)).toEqual({ text: 'hello world', name: 'a.txt', type: 'text/plain' });
    expect(onDisk()).toEqual([HELLO, `${HELLO}.json`]);
    expect([storage.fileStore.quota.files, storage.fileStore.quota.bytes]).toEqual([1, 11]);
  });

  it('is stored once, with the metadata of its first upload', async () => {
    await put(pieces('hello world'));
    const again = await put(pieces('hello world'), { name: 'evil.html', type: 'text/html' });
    expect(again.cid).toBe(HELLO);
    expect(await read(HELLO)).toMatchObject({ name: 'a.txt', type: 'text/plain' });
    expect([storage.fileStore.quota.files, storage.fileStore.quota.bytes, storage.uploads.streaming]).toEqual(
      [1, 11, 0],
    );
    expect(onDisk()).toHaveLength(2);
  });

  it('is available and counted after a restart', async () => {
    await put(pieces('hello world'));
    await put(pieces('x'.repeat(3_000_000)));
    await open();
    expect([storage.fileStore.quota.files, storage.fileStore.quota.bytes]).toEqual([2, 3_000_011]);
    expect(await read(HELLO)).toMatchObject({ text: 'hello world' });
  });
});

describe('a failed upload leaves no files', () => {
  afterEach(() => {
    expect(storage.uploads.streaming).toBe(0);
    expect(inFolder('incoming')).toEqual([]);
  });

  it('when the client disconnects', async () => {
    const cut = (async function* () {
      yield Buffer.alloc(2_000_000);
      throw new Failure('CLIENT_GONE');
    })();
    expect(await codeOf(put(cut))).toBe('CLIENT_GONE');
    expect([onDisk(), storage.fileStore.quota.files, storage.fileStore.quota.bytes]).toEqual([[], 0, 0]);
  });

  it('when the signal is aborted, even if no more bytes arrive', async () => {
    const leaving = new AbortController();
    const { bytes } = pausedSource('x');
    const storing = put(bytes, {}, leaving.signal);
    await expect.poll(() => readdirSync(join(folder, 'incoming')).length).toBe(1);
    leaving.abort();
    expect(await codeOf(storing)).toBe('CLIENT_GONE');
    expect(onDisk()).toEqual([]);
  });

  it('when the file is too large, and stops reading', async () => {
    await open({ fileMaxBytes: 1_500_000 });
    let stopped = false;
    const endless = (async function* () {
      try {
        for (;;) yield Buffer.alloc(100_000);
      } finally {
        stopped = true;
      }
    })();
    expect(await codeOf(put(endless))).toBe('FILE_TOO_LARGE');
    expect([onDisk(), stopped]).toEqual([[], true]);
    expect(await codeOf(put(pieces(Buffer.alloc(1_500_000))))).toBe('done');
  });

  it.each([
    ['bytes', { totalMaxBytes: 20 }],
    ['files', { filesMax: 1 }],
  ])('when the maximum of %s is reached, except for existing files', async (_what, limits) => {
    await open(limits);
    await put(pieces('hello world'));
    expect(await codeOf(put(pieces('another file')))).toBe('STORAGE_FULL');
    expect(onDisk()).toHaveLength(2);
    expect((await put(pieces('hello world'))).cid).toBe(HELLO);
    expect([storage.fileStore.quota.files, storage.fileStore.quota.bytes]).toEqual([1, 11]);
  });

  it('when concurrent files exceed the limit together', async () => {
    await open({ filesMax: 3 });
    const codes = await Promise.all(Array.from({ length: 8 }, (_, i) => codeOf(put(pieces(`file ${i}`)))));
    expect(codes.toSorted()).toEqual([...Array(5).fill('STORAGE_FULL'), ...Array(3).fill('done')]);
    expect(storage.fileStore.quota.files).toBe(3);
  });

  it('when the disk fails', async () => {
    await put(pieces('hello world'));
    rmSync(join(folder, 'files'), { recursive: true });
    writeFileSync(join(folder, 'files'), 'no folder');
    expect(await codeOf(put(pieces('another')))).toBe('STORAGE_UNAVAILABLE');
    expect([storage.fileStore.quota.files, storage.fileStore.quota.bytes]).toEqual([1, 11]);
  });
});

it('a file that cannot be moved to its final path does not count against the quota', async () => {
  mkdirSync(join(folder, 'files', HELLO.slice(-2), `${HELLO}.json`), { recursive: true });
  expect(await codeOf(put(pieces('hello world')))).toBe('STORAGE_UNAVAILABLE');
  expect([onDisk(), storage.fileStore.quota.files, storage.fileStore.quota.bytes]).toEqual([[], 0, 0]);
});

describe('concurrent uploads', () => {
  it.each([
    ['of one owner', { uploadsPerOwnerMax: 2 }, () => 'one', () => 'other'],
    ['in all', { uploadsMax: 2 }, (i: number) => `${i}`, null],
  ])('%s are bounded', async (_what, limits, ownerOf, other) => {
    await open({ ...limits, uploadsWaitingMax: 0 });
    const uploading = [0, 1].map((i) => ({ ...pausedSource(`file ${i}`), i }));
    const storing = uploading.map(({ bytes, i }) => put(bytes, { ownerId: ownerOf(i) }));
    const refused = { read: false, stopped: false };
    const bytes: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          refused.read = true;
          return { done: true, value: undefined };
        },
        return: async () => {
          refused.stopped = true;
          return { done: true, value: undefined };
        },
      }),
    };
    expect(await codeOf(put(bytes, { ownerId: ownerOf(2) }))).toBe('OVERLOADED');
    expect(refused).toEqual({ read: false, stopped: true });
    if (other !== null) expect(await codeOf(put(pieces('x'), { ownerId: other() }))).toBe('done');
    for (const { go } of uploading) go();
    await Promise.all(storing);
    expect(await codeOf(put(pieces('y'), { ownerId: ownerOf(2) }))).toBe('done');
  });
});

it('startup removes leftovers of a crashed process, and nothing else', async () => {
  await put(pieces('hello world'));
  const before = onDisk();
  writeFileSync(join(folder, 'incoming', 'half'), 'x');
  mkdirSync(join(folder, 'incoming', 'folder'));
  const orphan = HELLO.replace('bafkreifz', 'bafkreifa');
  writeFileSync(join(folder, 'files', HELLO.slice(-2), `${orphan}.json`), '{}');
  await open();
  expect(onDisk()).toEqual(before);
});

it('a stored file can be opened by its CID only', async () => {
  await put(pieces('hello world'));
  const wrong = ['', '.', '..', `../${HELLO}`, `${HELLO}.json`, `${HELLO}/..`, `${HELLO}a`, '\0'];
  for (const name of [...wrong, HELLO.toUpperCase()]) expect(await storage.fileStore.open(name)).toBeNull();
});
