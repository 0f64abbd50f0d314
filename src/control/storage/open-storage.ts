import { join } from 'node:path';
import type { Logger } from '../../base/log.ts';
import { BlockIndex } from './block-index.ts';
import type { SharedStorageQuota } from './file-store.ts';
import { FileStore, type StorageLimits, storageLimits } from './file-store.ts';
import { FileUploads } from './file-uploads.ts';
import { KuboBackend, type KuboBackendOptions } from './kubo-backend.ts';
import { PinningBackend, PinningService, type PinningServiceOptions } from './pinning-backend.ts';
import { UploadSpool } from './upload-spool.ts';

/** Common options of all storage backends. */
export type StorageOptions = Readonly<{
  /** Stored and incoming files. Processes of one machine may share it. */
  folder: string;
  /** Prefix of file URIs, e.g. `https://gateway.example/ipfs/`. */
  uriPrefix: () => string;
  limits?: Partial<StorageLimits>;
  /** Quota shared by processes with this folder; absent: this process counts alone. */
  sharedQuota?: SharedStorageQuota;
}>;

export type Storage = Readonly<{
  uploads: FileUploads;
  /** Local files for the IPFS gateway; null if files are stored elsewhere. */
  fileStore: FileStore | null;
  /** Blocks of local files for block-wise fetching; null if not needed. */
  blocks: BlockIndex | null;
  close(): Promise<void>;
}>;

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

/** In order: the first may still read from the second. */
async function closeBoth(first: Closable, second: Closable): Promise<void> {
  await first.close();
  await second.close();
}

/**
 * Opens local storage and removes leftovers of crashed processes.
 * @throws Error of the file system
 */
export async function openEmbeddedStorage(options: StorageOptions): Promise<EmbeddedStorage> {
  const spool = await openSpool(options);
  const fileStore = await openFileStore(options, spool);
  const { uriPrefix } = options;
  const uploads = new FileUploads({ spool, backend: fileStore, limits: limitsOf(options), uriPrefix });
  return { uploads, fileStore, blocks: null, close: () => spool.close() };
}

/** For a process that only counts files for others. */
export type StorageCounter = Readonly<{ fileStore: FileStore; close(): Promise<void> }>;

/**
 * Counts the files of a folder and removes leftovers.
 * @throws Error of the file system
 */
export async function openStorageCounter(options: StorageOptions): Promise<StorageCounter> {
  const spool = await openSpool(options);
  const fileStore = await openFileStore(options, spool);
  await openBlockIndex(options, spool, fileStore);
  return { fileStore, close: () => spool.close() };
}

/**
 * Opens storage in a Kubo node.
 * @throws Error of the file system
 */
export async function openKuboStorage(options: StorageOptions, node: KuboBackendOptions): Promise<Storage> {
  const spool = await openSpool(options);
  const backend = new KuboBackend(node);
  const { uriPrefix } = options;
  const uploads = new FileUploads({ spool, backend, limits: limitsOf(options), uriPrefix });
  const close = () => closeBoth(backend, spool);
  return { uploads, fileStore: null, blocks: null, close };
}

/**
 * Opens local storage with an additional pinning service.
 * @throws Error of the file system
 */
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
