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

  constructor(kept: KeptFiles, blocks: KeptBlocks, service: PinningService) {
    this.#kept = kept;
    this.#blocks = blocks;
    this.#service = service;
  }

  /** A file that the service does not take is not kept. */
  keep(file: IncomingFile, about: FileAbout): Promise<void> {
    return this.#kept.keep(file, about, () => this.#pin(file, about));
  }

  async #pin(file: IncomingFile, { name }: FileAbout): Promise<void> {
    await this.#blocks.add(file);
    try {
      await this.#service.pin(file.cid, name);
    } catch (thrown) {
      if (!(await this.#kept.has(file.cid))) await this.#blocks.remove(file);
      throw thrown;
    }
  }
}
