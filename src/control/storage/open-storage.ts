import { join } from 'node:path';
import { Incoming } from './incoming.ts';
import { KeptFiles } from './kept-files.ts';
import { type StorageLimits, storageLimits } from './limits.ts';
import { StoredFiles } from './stored-files.ts';

export type EmbeddedStorageOptions = Readonly<{
  /** Where files are kept. One process at a time may have it. */
  folder: string;
  /** What stands before a CID in the URI of a file: `https://gateway.example/ipfs/`; asked when a file is stored. */
  uriPrefix: () => string;
  limits?: Partial<StorageLimits>;
}>;

/** Storage on this machine's disk. */
export type EmbeddedStorage = Readonly<{ files: StoredFiles; kept: KeptFiles }>;

/**
 * Opens storage that keeps files itself. What a run that died has left is removed.
 * @throws Error of the file system when the folder cannot be had.
 */
export async function openEmbeddedStorage(options: EmbeddedStorageOptions): Promise<EmbeddedStorage> {
  const { folder, uriPrefix } = options;
  const limits = { ...storageLimits, ...options.limits };
  const incoming = await Incoming.open(join(folder, 'incoming'), limits.fileMaxBytes);
  const kept = await KeptFiles.open(join(folder, 'files'), incoming, limits);
  return { files: new StoredFiles({ incoming, keeper: kept, limits, uriPrefix }), kept };
}
