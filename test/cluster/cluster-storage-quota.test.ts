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

async function openQuota(folder = temporaryFolder('quota')) {
  const options = { folder, uriPrefix: () => '', limits: { filesMax: 3 } };
  const files = await openStorageCounter(options);
  opened.push(files);
  const quota = new ClusterStorageQuota(files.fileStore);
  const quotaOf = (worker: number): SharedStorageQuota => ({
    async reserve(cid, bytes) {
      if (!quota.reserve(worker, cid, bytes)) throw new Failure('STORAGE_FULL');
    },
    settle: (cid, isStored) => quota.settle(worker, cid, isStored),
  });
  const workers = await Promise.all(
    [1, 2].map((worker) => openEmbeddedStorage({ ...options, sharedQuota: quotaOf(worker) })),
  );
  opened.push(...workers);
  return { folder, quota, workers };
}

const put = (storage: Storage | undefined, text: string) =>
  storage?.uploads.put(
    Buffer.from(text),
    { ownerId: 'owner', name: null, type: 'text/plain' },
    AbortSignal.timeout(10_000),
  );

it('two workers share the storage quota, which counts equal files once', async () => {
  const { folder, workers } = await openQuota();
  const [one, other] = workers;
  await put(one, 'a');
  await put(other, 'b');
  await put(other, 'a');
  await put(one, 'c');
  for (const worker of workers)
    await expect(put(worker, 'd')).rejects.toMatchObject({ code: 'STORAGE_FULL' });
  const again = await openQuota(folder);
  await expect(put(again.workers[0], 'e')).rejects.toMatchObject({ code: 'STORAGE_FULL' });
});

it('reservations of a dead worker are released, except those of stored files', async () => {
  const { quota, workers } = await openQuota();
  const stored = await put(workers[0], 'a');
  const cid = stored?.cid ?? '';
  expect(quota.reserve(1, cid, 1)).toBe(true);
  expect(quota.reserve(1, 'nothing', 1)).toBe(true);
  expect(quota.reserve(2, 'more', 1)).toBe(false);
  await quota.releaseWorker(1);
  expect([quota.reserve(2, 'more', 1), quota.reserve(2, 'most', 1)]).toEqual([true, false]);
});
