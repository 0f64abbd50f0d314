import type { Logger } from '../../base/log.ts';
import type { FileAbout } from './about.ts';
import type { IncomingFile } from './incoming.ts';
import type { Keeper } from './keeper.ts';
import type { KeptBlocks } from './kept-blocks.ts';
import type { KeptFiles } from './kept-files.ts';
import type { PinningService } from './pinning-service.ts';

/** Files on this machine's disk that another service is asked to pin: it fetches their blocks from here. */
export class PinnedFiles implements Keeper {
  readonly #kept: KeptFiles;
  readonly #blocks: KeptBlocks;
  readonly #service: PinningService;
  readonly #log: Logger;

  constructor(kept: KeptFiles, blocks: KeptBlocks, service: PinningService, log: Logger) {
    this.#kept = kept;
    this.#blocks = blocks;
    this.#service = service;
    this.#log = log;
  }

  /**
   * A file that the service does not take is not kept. One that is kept already stays so, whatever becomes of asking
   * for its pin anew, which is for those that were given up.
   */
  keep(file: IncomingFile, about: FileAbout): Promise<void> {
    return this.#kept.keep(file, about, (isKept) =>
      isKept ? this.#pinAnew(file, about) : this.#pin(file, about),
    );
  }

  async #pin(file: IncomingFile, { name }: FileAbout): Promise<void> {
    await this.#blocks.add(file);
    try {
      await this.#service.pin(file.cid, name);
    } catch (thrown) {
      await this.#blocks.remove(file);
      throw thrown;
    }
  }

  async #pinAnew(file: IncomingFile, { name }: FileAbout): Promise<void> {
    try {
      await this.#blocks.add(file);
      await this.#service.pin(file.cid, name);
    } catch {
      this.#log.warn({ cid: file.cid }, 'a file that is kept could not be pinned anew');
    }
  }
}
