import type { Logger } from '../../base/log.ts';
import type { BlockIndex } from './block-index.ts';
import type { FileBackend } from './file-backend.ts';
import type { FileMetadata } from './file-metadata.ts';
import type { FileStore } from './file-store.ts';
import type { PinningService } from './pinning-service.ts';
import type { SpooledFile } from './upload-spool.ts';

/** Files on this machine's disk that another service is asked to pin: it fetches their blocks from here. */
export class PinningBackend implements FileBackend {
  readonly #fileStore: FileStore;
  readonly #blocks: BlockIndex;
  readonly #service: PinningService;
  readonly #log: Logger;

  constructor(fileStore: FileStore, blocks: BlockIndex, service: PinningService, log: Logger) {
    this.#fileStore = fileStore;
    this.#blocks = blocks;
    this.#service = service;
    this.#log = log;
  }

  /**
   * A file that the service does not take is not kept. One that is kept already stays so, whatever becomes of asking
   * for its pin anew, which is for those that were given up.
   */
  store(file: SpooledFile, metadata: FileMetadata): Promise<void> {
    return this.#fileStore.store(file, metadata, (isAlreadyStored) =>
      isAlreadyStored ? this.#repin(file, metadata) : this.#pin(file, metadata),
    );
  }

  async #pin(file: SpooledFile, { name }: FileMetadata): Promise<void> {
    await this.#blocks.add(file);
    try {
      await this.#service.pin(file.cid, name);
    } catch (thrown) {
      await this.#blocks.remove(file);
      throw thrown;
    }
  }

  async #repin(file: SpooledFile, { name }: FileMetadata): Promise<void> {
    try {
      await this.#blocks.add(file);
      await this.#service.pin(file.cid, name);
    } catch {
      this.#log.warn({ cid: file.cid }, 'a file that is kept could not be pinned anew');
    }
  }
}
