import type { FileAbout } from './about.ts';
import type { IncomingFile } from './incoming.ts';
import type { Keeper } from './keeper.ts';
import type { KeptFiles } from './kept-files.ts';
import type { PinningService } from './pinning-service.ts';

/** Files on this machine's disk that another service is asked to pin. */
export class PinnedFiles implements Keeper {
  readonly #kept: KeptFiles;
  readonly #service: PinningService;

  constructor(kept: KeptFiles, service: PinningService) {
    this.#kept = kept;
    this.#service = service;
  }

  /** A file that the service does not take is not kept. */
  keep(file: IncomingFile, about: FileAbout): Promise<void> {
    return this.#kept.keep(file, about, () => this.#service.pin(file.cid, about.name));
  }
}
