import { type FileAbout, fitAbout } from './about.ts';
import { storageFault } from './fault.ts';
import type { Incoming, IncomingFile } from './incoming.ts';
import type { Keeper } from './keeper.ts';
import type { StorageLimits } from './limits.ts';
import { UploadPlaces } from './upload-places.ts';

export type StoredFilesOptions = Readonly<{
  incoming: Incoming;
  keeper: Keeper;
  limits: StorageLimits;
  /** What stands before a CID in the URI of a file: `https://gateway.example/ipfs/`; asked when a file is stored. */
  uriPrefix: () => string;
}>;

/** Whose file it is, besides what is said of it. */
export type Sent = Readonly<FileAbout & { ownerId: string }>;

/** Takes files in, and gives them to whoever keeps them. */
export class StoredFiles {
  readonly #options: StoredFilesOptions;
  readonly #places: UploadPlaces;

  constructor(options: StoredFilesOptions) {
    this.#options = options;
    this.#places = new UploadPlaces(options.limits);
  }

  /** Files that are coming now. */
  get coming(): number {
    return this.#places.taken;
  }

  /**
   * Stores a file while it comes. The same bytes are stored once, and have the same CID.
   * @throws Failure FILE_TOO_LARGE, STORAGE_FULL, STORAGE_UNAVAILABLE, OVERLOADED, CLIENT_GONE, or what `bytes`
   * throws. Nothing is left then.
   */
  async put(
    bytes: AsyncIterable<Uint8Array>,
    sent: Sent,
    signal: AbortSignal,
  ): Promise<Readonly<{ cid: string; uri: string }>> {
    try {
      await this.#places.take(sent.ownerId, signal);
    } catch (thrown) {
      await bytes[Symbol.asyncIterator]().return?.();
      throw thrown;
    }
    try {
      const file = await this.#options.incoming.receive(bytes, signal);
      await this.#keep(file, sent);
      return { cid: file.cid, uri: `${this.#options.uriPrefix()}${file.cid}` };
    } finally {
      this.#places.giveBack(sent.ownerId);
    }
  }

  async #keep(file: IncomingFile, { name, type }: Sent): Promise<void> {
    const { incoming, keeper } = this.#options;
    try {
      await keeper.keep(file, fitAbout({ name, type: file.type ?? type }));
    } catch (thrown) {
      throw storageFault(thrown);
    } finally {
      await incoming.remove(file).catch(() => {});
    }
  }
}
