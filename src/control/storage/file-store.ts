import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { nullIfMissing, syncFolder } from '../../base/files.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { Failure } from '../../protocol/errors.ts';
import type { SpooledFile, UploadSpool } from './upload-spool.ts';

export const storageLimits = {
  fileMaxBytes: 100 * 1024 * 1024,
  totalMaxBytes: 100 * 1024 * 1024 * 1024,
  filesMax: 1_000_000,
  /** Maximum uploads, separately for streams and buffers. Each may use `fileMaxBytes` of disk and 2 MiB of RAM. */
  uploadsMax: 64,
  uploadsPerOwnerMax: 8,
  uploadsWaitingMax: 1_000,
  /** Maximum wait for a free slot, during which the body is not read. */
  uploadsWaitMs: 60_000,
};

export type StorageLimits = Readonly<typeof storageLimits>;

/** Storage quota shared by processes that use the same folder. */
export interface SharedStorageQuota {
  /** @throws Failure STORAGE_FULL, STORAGE_UNAVAILABLE */
  reserve(cid: string, bytes: number): Promise<void>;
  /** Confirms or releases a reservation. */
  settle(cid: string, isStored: boolean): void;
}

class StorageQuota {
  readonly #limits: StorageLimits;
  files = 0;
  bytes = 0;

  constructor(limits: StorageLimits) {
    this.#limits = limits;
  }

  add(bytes: number): void {
    this.files++;
    this.bytes += bytes;
  }

  /** Counts a new file. @returns false if it would exceed the quota. */
  tryReserve(bytes: number): boolean {
    const { filesMax, totalMaxBytes } = this.#limits;
    if (this.files + 1 > filesMax || this.bytes + bytes > totalMaxBytes) return false;
    this.add(bytes);
    return true;
  }

  release(bytes: number): void {
    this.files--;
    this.bytes -= bytes;
  }
}

/** `type` is a media type. */
export type FileMetadata = Readonly<{ name: string | null; type: string }>;

/** Type, subtype and a few simple parameters. Source: RFC 9110 §8.3.1. */
const MEDIA_TYPE = /^[\w.+-]{1,63}\/[\w.+-]{1,127}(; ?[\w-]{1,32}=[\w.+-]{1,64}){0,3}$/;

const NAME_MAX_CHARACTERS = 255;

/** Unsafe in names and paths: control and format characters, line and paragraph separators, surrogates, slashes. */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}/\\]/gu;

/** Falls back to a generic type, because any other text could be unsafe in a header. */
const sanitizeType = (type: string): string =>
  MEDIA_TYPE.test(type) ? type.toLowerCase() : 'application/octet-stream';

function sanitizeName(name: string | null): string | null {
  const sanitized = (name ?? '').slice(0, NAME_MAX_CHARACTERS).replace(UNSAFE_CHARACTERS, '').trim();
  return sanitized === '' || sanitized === '.' || sanitized === '..' ? null : sanitized;
}

export const sanitizeMetadata = ({ name, type }: FileMetadata): FileMetadata => ({
  name: sanitizeName(name),
  type: sanitizeType(type),
});

/** Parses the output of `serializeMetadata`; any other text yields default metadata. */
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

export const serializeMetadata = ({ name, type }: FileMetadata): string => JSON.stringify({ name, type });

/** Final destination of files. */
export interface FileBackend {
  /** Idempotent. May move the source file. If it throws, the file is not stored. */
  store(file: SpooledFile, metadata: FileMetadata): Promise<void>;
}

/** CIDv1 of a raw block or a dag-pb node, with SHA-256, in base32. */
export const FILE_CID = /^baf(?:kre|ybe)[a-z2-7]{53}$/;

const METADATA_SUFFIX = '.json';

const METADATA_MAX_BYTES = 8 * 1024;

const READ_BYTES = 128 * 1024;

/** A stored file opened for reading. The caller must close it. */
export type OpenFile = Readonly<
  FileMetadata & {
    bytes: number;
    /** @param end - exclusive. */
    read(start: number, end: number): AsyncIterable<Uint8Array>;
    close(): Promise<void>;
  }
>;

/**
 * Stores files on local disk by CID. A file is moved into place once it is complete and durable. The metadata of the
 * first upload is stored next to it.
 */
export class FileStore implements FileBackend {
  readonly #folder: string;
  readonly #spool: UploadSpool;
  /** Counts files found at startup and, without a shared quota, files stored by this process. */
  readonly quota: StorageQuota;
  readonly #sharedQuota: SharedStorageQuota | null;
  /** Last task for each CID; the next task for the CID waits for it. */
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
   * Opens the store, counts its files and adds up their sizes.
   * @param folder - must be on the same file system as the spool.
   * @param sharedQuota - null: no other process uses the folder.
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

  /**
   * Stores a file; an existing file keeps its metadata. `beforeStore` runs once storage is reserved; its argument is
   * true if the file already exists. If `beforeStore` fails, a new file is not stored.
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
        if (isStored) return;
        await this.#move(file, metadata);
        this.#settle(file, true);
      } catch (thrown) {
        if (!isStored) this.#settle(file, false);
        throw thrown;
      }
    });
  }

  async has(cid: string): Promise<boolean> {
    return FILE_CID.test(cid) && (await nullIfMissing(lstat(this.#path(cid)))) !== null;
  }

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
    const text = await firstBytesOf(this.#path(cid) + METADATA_SUFFIX, METADATA_MAX_BYTES);
    return parseMetadata(text?.toString() ?? '');
  }

  /** Counts the files in a folder. Removes metadata without a file, unless another process may be storing that file. */
  async #count(folder: string): Promise<void> {
    const names = await readdir(folder);
    const files = new Set(names.filter((name) => FILE_CID.test(name)));
    for (const name of files) this.quota.add((await lstat(join(folder, name))).size);
    if (!this.#spool.isAlone) return;
    for (const name of names) {
      const isOrphan = name.endsWith(METADATA_SUFFIX) && !files.has(name.slice(0, -METADATA_SUFFIX.length));
      if (isOrphan) await rm(join(folder, name), { force: true });
    }
  }

  async #reserve({ cid, bytes }: SpooledFile): Promise<void> {
    if (this.#sharedQuota !== null) await this.#sharedQuota.reserve(cid, bytes);
    else if (!this.quota.tryReserve(bytes)) throw new Failure('STORAGE_FULL');
  }

  #settle({ cid, bytes }: SpooledFile, isStored: boolean): void {
    if (this.#sharedQuota !== null) this.#sharedQuota.settle(cid, isStored);
    else if (!isStored) this.quota.release(bytes);
  }

  /** Moves the metadata first, so that any file in place is complete. */
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

/** Reads at most `maxBytes` from the start of a file; null if the file is missing. */
export async function firstBytesOf(path: string, maxBytes: number): Promise<Buffer | null> {
  const handle = await nullIfMissing(open(path, 'r'));
  if (handle === null) return null;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxBytes));
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function* pieces(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array, void> {
  for (let at = start; at < end; ) {
    const length = Math.min(READ_BYTES, end - at);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(length), 0, length, at);
    if (bytesRead === 0) throw new Error('a stored file was truncated');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
