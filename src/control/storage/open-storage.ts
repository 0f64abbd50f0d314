import { join } from 'node:path';
import type { Logger } from '../../base/log.ts';
import { BlockIndex } from './block-index.ts';
import type { SharedStorageQuota } from './file-store.ts';
import { FileStore, type StorageLimits, storageLimits } from './file-store.ts';
import { FileUploads } from './file-uploads.ts';
import { KuboBackend, type KuboBackendOptions } from './kubo-backend.ts';
import { PinningBackend, PinningService, type PinningServiceOptions } from './pinning-backend.ts';
import { UploadSpool } from './upload-spool.ts';

/** What every storage needs, whoever keeps the files. */
export type StorageOptions = Readonly<{
  /** Where files are kept, and where they are while they come. Processes of one machine may share it. */
  folder: string;
  /** What stands before a CID in the URI of a file: `https://gateway.example/ipfs/`. */
  uriPrefix: () => string;
  limits?: Partial<StorageLimits>;
  /** What several processes that share the folder have room for together; absent: this one counts for itself. */
  sharedQuota?: SharedStorageQuota;
}>;

/** Storage that is open. */
export type Storage = Readonly<{
  uploads: FileUploads;
  /** What is on this machine's disk, for the gateway; null where nothing stays there. */
  fileStore: FileStore | null;
  /** Blocks of those, for who fetches them one by one; null where nobody does. */
  blocks: BlockIndex | null;
  close(): Promise<void>;
}>;

/** Storage on this machine's disk. */
export type EmbeddedStorage = Storage & Readonly<{ fileStore: FileStore }>;

const limitsOf = ({ limits }: StorageOptions): StorageLimits => ({ ...storageLimits, ...limits });

const openSpool = (options: StorageOptions): Promise<UploadSpool> =>
  UploadSpool.open(join(options.folder, 'incoming'), limitsOf(options).fileMaxBytes);

const openFileStore = (options: StorageOptions, spool: UploadSpool): Promise<FileStore> =>
  FileStore.open(join(options.folder, 'files'), spool, limitsOf(options), options.sharedQuota);

const openBlockIndex = (
  options: StorageOptions,
  spool: UploadSpool,
  fileStore: FileStore,
): Promise<BlockIndex> => BlockIndex.open(join(options.folder, 'blocks'), fileStore, spool.isAlone);

type Closable = Readonly<{ close(): Promise<void> }>;

/** The first may still be giving away what is in the second. */
async function closeBoth(first: Closable, second: Closable): Promise<void> {
  await first.close();
  await second.close();
}

/**
 * Opens storage that keeps files itself. What a run that died has left is removed.
 * @throws Error of the file system when the folder cannot be had.
 */
export async function openEmbeddedStorage(options: StorageOptions): Promise<EmbeddedStorage> {
  const spool = await openSpool(options);
  const fileStore = await openFileStore(options, spool);
  const { uriPrefix } = options;
  const uploads = new FileUploads({ spool, backend: fileStore, limits: limitsOf(options), uriPrefix });
  return { uploads, fileStore, blocks: null, close: () => spool.close() };
}

/** The kept files, for whoever counts them for several processes and keeps none. */
export type StorageCounter = Readonly<{ fileStore: FileStore; close(): Promise<void> }>;

/** Counts the files of a folder, and removes what a run that died has left. As `openEmbeddedStorage` otherwise. */
export async function openStorageCounter(options: StorageOptions): Promise<StorageCounter> {
  const spool = await openSpool(options);
  const fileStore = await openFileStore(options, spool);
  await openBlockIndex(options, spool, fileStore);
  return { fileStore, close: () => spool.close() };
}

/** Opens storage that gives files to a Kubo node, and keeps none itself. As `openEmbeddedStorage` otherwise. */
export async function openKuboStorage(options: StorageOptions, node: KuboBackendOptions): Promise<Storage> {
  const spool = await openSpool(options);
  const backend = new KuboBackend(node);
  const { uriPrefix } = options;
  const uploads = new FileUploads({ spool, backend, limits: limitsOf(options), uriPrefix });
  const close = () => closeBoth(backend, spool);
  return { uploads, fileStore: null, blocks: null, close };
}

/** Opens storage that keeps files and has a service pin them too. As `openEmbeddedStorage` otherwise. */
export async function openPinnedStorage(
  options: StorageOptions,
  service: Omit<PinningServiceOptions, 'log'>,
  log: Logger,
): Promise<Storage> {
  const spool = await openSpool(options);
  const fileStore = await openFileStore(options, spool);
  const pinning = new PinningService({ ...service, log });
  const blocks = await openBlockIndex(options, spool, fileStore);
  const backend = new PinningBackend(fileStore, blocks, pinning, log);
  const { uriPrefix } = options;
  const uploads = new FileUploads({ spool, backend, limits: limitsOf(options), uriPrefix });
  return { uploads, fileStore, blocks, close: () => closeBoth(pinning, spool) };
}
