import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../base/make-folder.ts';
import { Failure } from '../../protocol/errors.ts';
import { nullIfMissing, type SpooledFile, type UploadSpool } from './upload-spool.ts';

/** What bounds files that customers store. */
export type StorageLimits = Readonly<{
  /** Bytes of one file. */
  fileMaxBytes: number;
  /** Bytes of all files together, each counted once. */
  totalMaxBytes: number;
  /** Files in all. */
  filesMax: number;
  /**
   * Files that are coming at a time, and as many that are here whole, such as metadata; each may take `fileMaxBytes`
   * of the disk and 2 MiB of memory meanwhile.
   */
  uploadsMax: number;
  /** Files of one key family that are coming at a time: a slow customer keeps others from nothing. */
  uploadsPerOwnerMax: number;
  /** Files that wait until those that are coming are there. */
  uploadsWaitingMax: number;
  /** How long one waits; nothing is read of it meanwhile. */
  uploadsWaitMs: number;
}>;

/** What holds unless something else is set. */
export const storageLimits: StorageLimits = {
  fileMaxBytes: 100 * 1024 * 1024,
  totalMaxBytes: 100 * 1024 * 1024 * 1024,
  filesMax: 1_000_000,
  uploadsMax: 64,
  uploadsPerOwnerMax: 8,
  uploadsWaitingMax: 1_000,
  uploadsWaitMs: 60_000,
};

/** Room for files that several processes keep in one folder. */
export interface SharedStorageQuota {
  /** @throws Failure STORAGE_FULL, STORAGE_UNAVAILABLE */
  reserve(cid: string, bytes: number): Promise<void>;
  /** Says what became of a file that room was taken for. */
  settle(cid: string, isStored: boolean): void;
}

/** How many files are kept, with their bytes, and how many there may be. */
class StorageQuota {
  readonly #limits: Pick<StorageLimits, 'filesMax' | 'totalMaxBytes'>;
  #files = 0;
  #bytes = 0;

  constructor(limits: Pick<StorageLimits, 'filesMax' | 'totalMaxBytes'>) {
    this.#limits = limits;
  }

  get files(): number {
    return this.#files;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a file that is there. */
  add(bytes: number): void {
    this.#files++;
    this.#bytes += bytes;
  }

  /** Counts a file that is to be there. @throws Failure STORAGE_FULL */
  reserve(bytes: number): void {
    const { filesMax, totalMaxBytes } = this.#limits;
    if (this.#files + 1 > filesMax || this.#bytes + bytes > totalMaxBytes) throw new Failure('STORAGE_FULL');
    this.add(bytes);
  }

  release(bytes: number): void {
    this.#files--;
    this.#bytes -= bytes;
  }
}

/** What is known of a file besides its bytes. */
export type FileMetadata = Readonly<{
  /** As whoever sent it calls it. */
  name: string | null;
  /** Its media type. */
  type: string;
}>;

/** A type and subtype with at most a few parameters. Source: RFC 9110 §8.3.1, within tokens and plain values. */
const MEDIA_TYPE = /^[\w.+-]{1,63}\/[\w.+-]{1,127}(; ?[\w-]{1,32}=[\w.+-]{1,64}){0,3}$/;

const NAME_MAX_CHARACTERS = 255;

/** Control characters, and those that turn the direction of text: a name is to look like what it is. */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}/\\]/gu;

/** A media type that may stand in a header; what is none becomes bytes of no type. */
const sanitizeType = (type: string): string =>
  MEDIA_TYPE.test(type) ? type.toLowerCase() : 'application/octet-stream';

function sanitizeName(name: string | null): string | null {
  const sanitized = (name ?? '').slice(0, NAME_MAX_CHARACTERS).replace(UNSAFE_CHARACTERS, '').trim();
  return sanitized === '' || sanitized === '.' || sanitized === '..' ? null : sanitized;
}

/** What is kept of what a client says of its file. */
export const sanitizeMetadata = ({ name, type }: FileMetadata): FileMetadata => ({
  name: sanitizeName(name),
  type: sanitizeType(type),
});

/** @returns what is written in the text of `writeAbout`; of anything else, that nothing is known. */
export function parseMetadata(text: string): FileMetadata {
  try {
    const { name, type } = JSON.parse(text);
    return sanitizeMetadata({
      name: typeof name === 'string' ? name : null,
      type: typeof type === 'string' ? type : '',
    });
  } catch {
    return sanitizeMetadata({ name: null, type: '' });
  }
}

/** The text that `readAbout` reads. */
export const serializeMetadata = ({ name, type }: FileMetadata): string => JSON.stringify({ name, type });

/** Where files come to stay. */
export interface FileBackend {
  /**
   * Makes a file available under its content identifier, for good. Asked again for the same, it changes nothing, and
   * does not fail where it can tell that the file is available. It may move the file away from where it is.
   * @throws Failure STORAGE_FULL, STORAGE_UNAVAILABLE; errors of the file system. Nothing became available then.
   */
  store(file: SpooledFile, metadata: FileMetadata): Promise<void>;
}

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
