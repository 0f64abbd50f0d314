import type { FileHandle } from 'node:fs/promises';
import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../base/make-folder.ts';
import type { FileBackend } from './file-backend.ts';
import { type FileMetadata, parseMetadata, serializeMetadata } from './file-metadata.ts';
import { nullIfMissing } from './storage-failure.ts';
import type { StorageLimits } from './storage-limits.ts';
import { type SharedStorageQuota, StorageQuota } from './storage-quota.ts';
import type { SpooledFile, UploadSpool } from './upload-spool.ts';

/** A CID of version 1 in lower-case base32 with a SHA-256: of a raw block, or of a node. No other is a file's name. */
export const FILE_CID = /^baf(?:kre|ybe)[a-z2-7]{53}$/;

const METADATA_SUFFIX = '.json';

/** Bytes of what is kept beside a file that are read: names and types are bounded when they are written. */
const METADATA_MAX_BYTES = 8 * 1024;

/** Bytes that are read from a file at a time. */
const READ_BYTES = 128 * 1024;

/** A kept file that is open for reading. Whoever has it closes it. */
export type OpenFile = Readonly<
  FileMetadata & {
    bytes: number;
    /** @param end - the first byte that is not read. */
    read(start: number, end: number): AsyncIterable<Uint8Array>;
    close(): Promise<void>;
  }
>;

/**
 * Files on this machine's disk, each under its content identifier, in folders by its last two characters. A file
 * that stands there is whole: it was moved there once all of it was on the disk. Beside it stands what whoever sent
 * it first said of it.
 */
export class FileStore implements FileBackend {
  readonly #folder: string;
  readonly #spool: UploadSpool;
  /** What this process knows of: what was there at the start, and what came here. */
  readonly quota: StorageQuota;
  /** Where other processes keep files in the folder too: what all of them have room for. */
  readonly #sharedQuota: SharedStorageQuota | null;
  /** The last of the tasks on a file, while there are any. */
  readonly #pendingTasks = new Map<string, Promise<void>>();

  private constructor(
    folder: string,
    spool: UploadSpool,
    limits: StorageLimits,
    sharedQuota: SharedStorageQuota | null,
  ) {
    this.#folder = folder;
    this.#spool = spool;
    this.quota = new StorageQuota(limits);
    this.#sharedQuota = sharedQuota;
  }

  /**
   * Looks at the names and sizes of all files.
   * @param folder - on the same file system as that of `incoming`.
   * @param shared - what several processes have room for together; null: this one counts for itself.
   */
  static async open(
    folder: string,
    spool: UploadSpool,
    limits: StorageLimits,
    sharedQuota: SharedStorageQuota | null = null,
  ): Promise<FileStore> {
    makeFolder(folder, 0o700);
    const fileStore = new FileStore(folder, spool, limits, sharedQuota);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) await fileStore.#count(join(folder, entry.name));
    }
    return fileStore;
  }

  /** How many files there are, as far as this process knows. */
  get files(): number {
    return this.quota.files;
  }

  /** Bytes of all those files. */
  get bytes(): number {
    return this.quota.bytes;
  }

  /**
   * Keeps a file. One that is kept already stays as it is, with what was said of it first.
   * @param before - done first, once there is room for the file, and told whether it is kept already; when it fails,
   * the file is not kept, unless it was.
   * @throws Failure STORAGE_FULL, STORAGE_UNAVAILABLE; errors of the file system; what `before` throws.
   */
  async store(
    file: SpooledFile,
    metadata: FileMetadata,
    beforeStore?: (isStored: boolean) => Promise<void>,
  ): Promise<void> {
    await this.#runSerially(file.cid, async () => {
      const isStored = await this.has(file.cid);
      if (!isStored) await this.#reserve(file);
      try {
        await beforeStore?.(isStored);
        if (!isStored) await this.#move(file, metadata);
        if (!isStored) this.#settle(file, true);
      } catch (thrown) {
        if (!isStored) this.#settle(file, false);
        throw thrown;
      }
    });
  }

  /** Whether a file of that CID is kept. */
  async has(cid: string): Promise<boolean> {
    return FILE_CID.test(cid) && (await nullIfMissing(lstat(this.#path(cid)))) !== null;
  }

  /** Opens a kept file; null when there is none of that CID. */
  async open(cid: string): Promise<OpenFile | null> {
    if (!FILE_CID.test(cid)) return null;
    const handle = await nullIfMissing(open(this.#path(cid), 'r'));
    if (handle === null) return null;
    try {
      const { size } = await handle.stat();
      const metadata = await this.#metadata(cid);
      return {
        ...metadata,
        bytes: size,
        read: (start, end) => pieces(handle, start, Math.min(end, size)),
        close: () => handle.close(),
      };
    } catch (thrown) {
      await handle.close();
      throw thrown;
    }
  }

  #path(cid: string): string {
    return join(this.#folder, cid.slice(-2), cid);
  }

  async #metadata(cid: string): Promise<FileMetadata> {
    const handle = await nullIfMissing(open(this.#path(cid) + METADATA_SUFFIX, 'r'));
    if (handle === null) return parseMetadata('');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(METADATA_MAX_BYTES));
      return parseMetadata(buffer.toString('utf8', 0, bytesRead));
    } finally {
      await handle.close();
    }
  }

  /** Adds up a folder, and removes what was said of files that never came to stand there, unless they still may. */
  async #count(folder: string): Promise<void> {
    const names = await readdir(folder);
    const files = new Set(names.filter((name) => FILE_CID.test(name)));
    for (const name of files) {
      this.quota.add((await lstat(join(folder, name))).size);
    }
    if (!this.#spool.isAlone) return;
    for (const name of names) {
      const isOrphan = name.endsWith(METADATA_SUFFIX) && !files.has(name.slice(0, -METADATA_SUFFIX.length));
      if (isOrphan) await rm(join(folder, name), { force: true });
    }
  }

  /** @throws Failure STORAGE_FULL, STORAGE_UNAVAILABLE */
  async #reserve({ cid, bytes }: SpooledFile): Promise<void> {
    if (this.#sharedQuota === null) this.quota.reserve(bytes);
    else await this.#sharedQuota.reserve(cid, bytes);
  }

  #settle({ cid, bytes }: SpooledFile, isStored: boolean): void {
    if (this.#sharedQuota !== null) this.#sharedQuota.settle(cid, isStored);
    else if (!isStored) this.quota.release(bytes);
  }

  /** What is said of a file first, then the file: one that is there is complete. */
  async #move({ path, cid }: SpooledFile, metadata: FileMetadata): Promise<void> {
    const to = this.#path(cid);
    const folder = join(to, '..');
    makeFolder(folder, 0o700);
    const metadataPath = await this.#spool.write(serializeMetadata(metadata));
    try {
      await rename(metadataPath, to + METADATA_SUFFIX);
      await rename(path, to);
      await syncFolder(folder);
      await syncFolder(this.#folder);
    } catch (thrown) {
      await rm(metadataPath, { force: true });
      await rm(to, { force: true });
      await rm(to + METADATA_SUFFIX, { force: true });
      throw thrown;
    }
  }

  /** Runs tasks on one file one after another. */
  async #runSerially(cid: string, task: () => Promise<void>): Promise<void> {
    const before = this.#pendingTasks.get(cid) ?? Promise.resolve();
    const mine = before.then(task);
    const settled = mine.catch(() => {});
    this.#pendingTasks.set(cid, settled);
    try {
      await mine;
    } finally {
      if (this.#pendingTasks.get(cid) === settled) this.#pendingTasks.delete(cid);
    }
  }
}

/** Names that were given in a folder outlast a loss of power from here on. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function* pieces(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array, void> {
  for (let at = start; at < end; ) {
    const length = Math.min(READ_BYTES, end - at);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(length), 0, length, at);
    if (bytesRead === 0) throw new Error('a kept file became shorter');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
