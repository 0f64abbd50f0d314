import { PerKeySemaphore, type PerKeySemaphoreLimits } from '../../base/concurrency/per-key-semaphore.ts';
import { Failure } from '../../protocol/errors.ts';
import type { FileBackend, StorageLimits } from './file-store.ts';
import { type FileMetadata, sanitizeMetadata } from './file-store.ts';
import type { SpooledFile, UploadSpool } from './upload-spool.ts';
import { toStorageFailure } from './upload-spool.ts';

/** What files are taken in with. */
export type FileUploadsOptions = Readonly<{
  spool: UploadSpool;
  backend: FileBackend;
  limits: StorageLimits;
  /** What stands before a CID in the URI of a file: `https://gateway.example/ipfs/`; asked when a file is stored. */
  uriPrefix: () => string;
}>;

/** Whose file it is, besides what is said of it. */
export type UploadInfo = Readonly<FileMetadata & { ownerId: string }>;

const semaphoreOptions = (limits: StorageLimits): PerKeySemaphoreLimits => ({
  permitsMax: limits.uploadsMax,
  keyPermitsMax: limits.uploadsPerOwnerMax,
  waitingMax: limits.uploadsWaitingMax,
  keyWaitingMax: limits.uploadsWaitingMax,
  waitMs: limits.uploadsWaitMs,
});

async function* asSingleChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

/** Takes files in, and gives them to whoever keeps them. */
export class FileUploads {
  readonly #options: FileUploadsOptions;
  /** Places of files that come as fast as their senders send them. */
  readonly #streaming: PerKeySemaphore;
  /** As many for those that are here whole: they are quick, and wait for no sender. */
  readonly #buffered: PerKeySemaphore;

  constructor(options: FileUploadsOptions) {
    this.#options = options;
    this.#streaming = new PerKeySemaphore(semaphoreOptions(options.limits));
    this.#buffered = new PerKeySemaphore(semaphoreOptions(options.limits));
  }

  /** Files that are coming now. */
  get streaming(): number {
    return this.#streaming.inUse;
  }

  /**
   * Stores a file while it comes, or one that is here whole. The same bytes are stored once, and have the same CID.
   * @throws Failure FILE_TOO_LARGE, STORAGE_FULL, STORAGE_UNAVAILABLE, OVERLOADED, CLIENT_GONE, or what `bytes`
   * throws. Nothing is left then.
   */
  async put(
    bytes: AsyncIterable<Uint8Array> | Uint8Array,
    upload: UploadInfo,
    signal: AbortSignal,
  ): Promise<Readonly<{ cid: string; uri: string }>> {
    return bytes instanceof Uint8Array
      ? this.#storeWithPermit(this.#buffered, asSingleChunk(bytes), upload, signal)
      : this.#storeWithPermit(this.#streaming, bytes, upload, signal);
  }

  async #storeWithPermit(
    semaphore: PerKeySemaphore,
    bytes: AsyncIterable<Uint8Array>,
    upload: UploadInfo,
    signal: AbortSignal,
  ): Promise<Readonly<{ cid: string; uri: string }>> {
    if (!(await semaphore.acquire(upload.ownerId, signal))) {
      await bytes[Symbol.asyncIterator]().return?.();
      throw new Failure(signal.aborted ? 'CLIENT_GONE' : 'OVERLOADED');
    }
    try {
      const file = await this.#options.spool.receive(bytes, signal);
      await this.#storeInBackend(file, upload);
      return { cid: file.cid, uri: `${this.#options.uriPrefix()}${file.cid}` };
    } finally {
      semaphore.release(upload.ownerId);
    }
  }

  async #storeInBackend(file: SpooledFile, { name, type }: UploadInfo): Promise<void> {
    const { spool, backend } = this.#options;
    try {
      await backend.store(file, sanitizeMetadata({ name, type: file.type ?? type }));
    } catch (thrown) {
      throw toStorageFailure(thrown);
    } finally {
      await spool.remove(file).catch(() => {});
    }
  }
}
