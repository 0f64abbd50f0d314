import { afterEach, expect, it } from 'vitest';
import { ClusterStorageQuota } from '../../src/app/cluster/cluster-storage-quota.ts';
import type { SharedStorageQuota } from '../../src/control/storage/file-store.ts';
import {
  openEmbeddedStorage,
  openStorageCounter,
  type Storage,
} from '../../src/control/storage/open-storage.ts';
import { Failure } from '../../src/protocol/errors.ts';
import { temporaryFolder } from '../service/program.ts';

const opened: Readonly<{ close(): Promise<void> }>[] = [];
afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));

/** A folder that has room for three files, as a primary counts it. */
async function openRoom(folder = temporaryFolder('room')) {
  const options = { folder, uriPrefix: () => '', limits: { filesMax: 3 } };
  const files = await openStorageCounter(options);
  opened.push(files);
  const room = new ClusterStorageQuota(files.fileStore);
  const roomOf = (worker: number): SharedStorageQuota => ({
    async reserve(cid, bytes) {
      if (!room.reserve(worker, cid, bytes)) throw new Failure('STORAGE_FULL');
    },
    settle: (cid, isKept) => room.settle(worker, cid, isKept),
  });
  const workers = await Promise.all(
    [1, 2].map((worker) => openEmbeddedStorage({ ...options, sharedQuota: roomOf(worker) })),
  );
  opened.push(...workers);
  return { folder, room, workers };
}

const put = (storage: Storage | undefined, text: string) =>
  storage?.uploads.put(
    Buffer.from(text),
    { ownerId: 'owner', name: null, type: 'text/plain' },
    AbortSignal.timeout(10_000),
  );

it('two workers store no more than there is room for, and what one of them has twice takes none', async () => {
  const { folder, workers } = await openRoom();
  const [one, other] = workers;
  await put(one, 'a');
  await put(other, 'b');
  await put(other, 'a');
  await put(one, 'c');
  for (const worker of workers)
    await expect(put(worker, 'd')).rejects.toMatchObject({ code: 'STORAGE_FULL' });
  const again = await openRoom(folder);
  await expect(put(again.workers[0], 'e')).rejects.toMatchObject({ code: 'STORAGE_FULL' });
});

it('what a worker was about to store when it died does not count against the quota, unless it is there', async () => {
  const { room, workers } = await openRoom();
  const kept = await put(workers[0], 'a');
  const cid = kept?.cid ?? '';
  expect([room.reserve(1, cid, 1), room.reserve(1, 'nothing', 1), room.reserve(2, 'more', 1)]).toEqual([
    true,
    true,
    false,
  ]);
  await room.releaseWorker(1);
  expect([room.reserve(2, 'more', 1), room.reserve(2, 'most', 1)]).toEqual([true, false]);
});
