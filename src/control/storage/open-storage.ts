import { join } from 'node:path';
import type { Logger } from '../../base/log.ts';
import type { FileRoom } from './file-room.ts';
import { Incoming } from './incoming.ts';
import { KeptBlocks } from './kept-blocks.ts';
import { KeptFiles } from './kept-files.ts';
import { KuboNode, type KuboNodeOptions } from './kubo-node.ts';
import { type StorageLimits, storageLimits } from './limits.ts';
import { PinnedFiles } from './pinned-files.ts';
import { PinningService, type PinningServiceOptions } from './pinning-service.ts';
import { StoredFiles } from './stored-files.ts';

/** What every storage needs, whoever keeps the files. */
export type StorageOptions = Readonly<{
  /** Where files are kept, and where they are while they come. Processes of one machine may share it. */
  folder: string;
  /** What stands before a CID in the URI of a file: `https://gateway.example/ipfs/`. */
  uriPrefix: () => string;
  limits?: Partial<StorageLimits>;
  /** What several processes that share the folder have room for together; absent: this one counts for itself. */
  room?: FileRoom;
}>;

/** Storage that is open. */
export type Storage = Readonly<{
  files: StoredFiles;
  /** What is on this machine's disk, for the gateway; null where nothing stays there. */
  kept: KeptFiles | null;
  /** Blocks of those, for who fetches them one by one; null where nobody does. */
  blocks: KeptBlocks | null;
  close(): Promise<void>;
}>;

/** Storage on this machine's disk. */
export type EmbeddedStorage = Storage & Readonly<{ kept: KeptFiles }>;

const limitsOf = ({ limits }: StorageOptions): StorageLimits => ({ ...storageLimits, ...limits });

const openIncoming = (options: StorageOptions): Promise<Incoming> =>
  Incoming.open(join(options.folder, 'incoming'), limitsOf(options).fileMaxBytes);

const openKept = (options: StorageOptions, incoming: Incoming): Promise<KeptFiles> =>
  KeptFiles.open(join(options.folder, 'files'), incoming, limitsOf(options), options.room);

const openBlocks = (options: StorageOptions, incoming: Incoming, kept: KeptFiles): Promise<KeptBlocks> =>
  KeptBlocks.open(join(options.folder, 'blocks'), kept, incoming.isAlone);

type Closing = Readonly<{ close(): Promise<void> }>;

/** The first may still be giving away what is in the second. */
async function closeBoth(first: Closing, second: Closing): Promise<void> {
  await first.close();
  await second.close();
}

/**
 * Opens storage that keeps files itself. What a run that died has left is removed.
 * @throws Error of the file system when the folder cannot be had.
 */
export async function openEmbeddedStorage(options: StorageOptions): Promise<EmbeddedStorage> {
  const incoming = await openIncoming(options);
  const kept = await openKept(options, incoming);
  const { uriPrefix } = options;
  const files = new StoredFiles({ incoming, keeper: kept, limits: limitsOf(options), uriPrefix });
  return { files, kept, blocks: null, close: () => incoming.close() };
}

/** The kept files, for whoever counts them for several processes and keeps none. */
export type CountedFiles = Readonly<{ kept: KeptFiles; close(): Promise<void> }>;

/** Counts the files of a folder, and removes what a run that died has left. As `openEmbeddedStorage` otherwise. */
export async function openCountedFiles(options: StorageOptions): Promise<CountedFiles> {
  const incoming = await openIncoming(options);
  const kept = await openKept(options, incoming);
  await openBlocks(options, incoming, kept);
  return { kept, close: () => incoming.close() };
}

/** Opens storage that gives files to a Kubo node, and keeps none itself. As `openEmbeddedStorage` otherwise. */
export async function openKuboStorage(options: StorageOptions, node: KuboNodeOptions): Promise<Storage> {
  const incoming = await openIncoming(options);
  const keeper = new KuboNode(node);
  const { uriPrefix } = options;
  const files = new StoredFiles({ incoming, keeper, limits: limitsOf(options), uriPrefix });
  const close = () => closeBoth(keeper, incoming);
  return { files, kept: null, blocks: null, close };
}

/** Opens storage that keeps files and has a service pin them too. As `openEmbeddedStorage` otherwise. */
export async function openPinnedStorage(
  options: StorageOptions,
  service: Omit<PinningServiceOptions, 'log'>,
  log: Logger,
): Promise<Storage> {
  const incoming = await openIncoming(options);
  const kept = await openKept(options, incoming);
  const pinning = new PinningService({ ...service, log });
  const blocks = await openBlocks(options, incoming, kept);
  const keeper = new PinnedFiles(kept, blocks, pinning, log);
  const { uriPrefix } = options;
  const files = new StoredFiles({ incoming, keeper, limits: limitsOf(options), uriPrefix });
  return { files, kept, blocks, close: () => closeBoth(pinning, incoming) };
}
