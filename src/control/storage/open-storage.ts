import { join } from 'node:path';
import type { Logger } from '../../base/log.ts';
import { BlockIndex } from './block-index.ts';
import {
  type FileBackend,
  FileStore,
  type SharedStorageQuota,
  type StorageLimits,
  storageLimits,
} from './file-store.ts';
import { FileUploads } from './file-uploads.ts';
import { type KuboBackendOptions, kuboBackend } from './kubo-backend.ts';
import { PinningService, type PinningServiceOptions, pinningBackend } from './pinning-backend.ts';
import { UploadSpool } from './upload-spool.ts';

export type StorageOptions = Readonly<{
  /** Processes on one machine may share the folder. */
  folder: string;
  /** Prefix of file URIs, e.g. `https://gateway.example/ipfs/`; evaluated per file. */
  uriPrefix: () => string;
  limits?: Partial<StorageLimits>;
  /** If absent, no other process uses the folder. */
  sharedQuota?: SharedStorageQuota;
}>;

export type Storage = Readonly<{
  uploads: FileUploads;
  /** For the IPFS gateway; null if files are stored elsewhere. */
  fileStore: FileStore | null;
  /** For fetching individual blocks; null if not needed. */
  blocks: BlockIndex | null;
  close(): Promise<void>;
}>;

export type EmbeddedStorage = Storage & Readonly<{ fileStore: FileStore }>;

async function openFolders({ folder, uriPrefix, sharedQuota, ...options }: StorageOptions) {
  const limits = { ...storageLimits, ...options.limits };
  const spool = await UploadSpool.open(join(folder, 'incoming'), limits.fileMaxBytes);
  return {
    spool,
    openFileStore: () => FileStore.open(join(folder, 'files'), spool, limits, sharedQuota),
    openBlockIndex: (fileStore: FileStore) =>
      BlockIndex.open(join(folder, 'blocks'), fileStore, spool.isAlone),
    uploadsTo: (backend: FileBackend) => new FileUploads({ spool, backend, limits, uriPrefix }),
    /** Closes the backend first, because it may still read from the spool. */
    async closeAfter(backend: Readonly<{ close(): Promise<void> }>): Promise<void> {
      await backend.close();
      await spool.close();
    },
  };
}

export async function openEmbeddedStorage(options: StorageOptions): Promise<EmbeddedStorage> {
  const { spool, openFileStore, uploadsTo } = await openFolders(options);
  const fileStore = await openFileStore();
  return { uploads: uploadsTo(fileStore), fileStore, blocks: null, close: () => spool.close() };
}

export type StorageCounter = Pick<EmbeddedStorage, 'fileStore' | 'close'>;

/** Counts the files in a folder on behalf of other processes, and removes leftovers. */
export async function openStorageCounter(options: StorageOptions): Promise<StorageCounter> {
  const { spool, openFileStore, openBlockIndex } = await openFolders(options);
  const fileStore = await openFileStore();
  await openBlockIndex(fileStore);
  return { fileStore, close: () => spool.close() };
}

export async function openKuboStorage(options: StorageOptions, node: KuboBackendOptions): Promise<Storage> {
  const { uploadsTo, closeAfter } = await openFolders(options);
  const backend = kuboBackend(node);
  return { uploads: uploadsTo(backend), fileStore: null, blocks: null, close: () => closeAfter(backend) };
}

/** Opens local storage whose files are also pinned by a remote service. */
export async function openPinnedStorage(
  options: StorageOptions,
  service: Omit<PinningServiceOptions, 'log'>,
  log: Logger,
): Promise<Storage> {
  const { openFileStore, openBlockIndex, uploadsTo, closeAfter } = await openFolders(options);
  const fileStore = await openFileStore();
  const pinning = new PinningService({ ...service, log });
  const blocks = await openBlockIndex(fileStore);
  const uploads = uploadsTo(pinningBackend(fileStore, blocks, pinning, log));
  return { uploads, fileStore, blocks, close: () => closeAfter(pinning) };
}
