import { PerKeySemaphore, type PerKeySemaphoreLimits } from '../../base/concurrency/per-key-semaphore.ts';
import { Failure } from '../../protocol/errors.ts';
import { type FileBackend, type FileMetadata, type StorageLimits, sanitizeMetadata } from './file-store.ts';
import { type SpooledFile, toStorageFailure, type UploadSpool } from './upload-spool.ts';

type FileUploadsOptions = Readonly<{
  spool: UploadSpool;
  backend: FileBackend;
  limits: StorageLimits;
  uriPrefix: () => string;
}>;

type UploadInfo = Readonly<FileMetadata & { ownerId: string }>;

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

/** Receives uploads and hands them to the storage backend. */
export class FileUploads {
  readonly #options: FileUploadsOptions;
  readonly #streaming: PerKeySemaphore;
  /** Separate, because buffered files are fast and should not wait for streams. */
  readonly #buffered: PerKeySemaphore;

  constructor(options: FileUploadsOptions) {
    this.#options = options;
    this.#streaming = new PerKeySemaphore(semaphoreOptions(options.limits));
    this.#buffered = new PerKeySemaphore(semaphoreOptions(options.limits));
  }

  get streaming(): number {
    return this.#streaming.inUse;
  }

  /**
   * Stores a file; identical content is stored once. If it throws, nothing remains.
   * @throws Failure OVERLOADED, and the errors of `UploadSpool.receive`.
   */
  put(
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
