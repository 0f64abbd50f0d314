import { Failure } from '../../protocol/errors.ts';
import { type FileAbout, fitAbout } from './about.ts';
import { storageFault } from './fault.ts';
import type { Incoming, IncomingFile } from './incoming.ts';
import type { Keeper } from './keeper.ts';
import type { StorageLimits } from './limits.ts';

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
  /** Files that are coming, by owner. */
  readonly #coming = new Map<string, number>();
  #comingInAll = 0;

  constructor(options: StoredFilesOptions) {
    this.#options = options;
  }

  /** Files that are coming now. */
  get coming(): number {
    return this.#comingInAll;
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
    if (!this.#begin(sent.ownerId)) {
      await bytes[Symbol.asyncIterator]().return?.();
      throw new Failure('OVERLOADED');
    }
    try {
      const file = await this.#options.incoming.receive(bytes, signal);
      await this.#keep(file, sent);
      return { cid: file.cid, uri: `${this.#options.uriPrefix()}${file.cid}` };
    } finally {
      this.#end(sent.ownerId);
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

  #begin(ownerId: string): boolean {
    const { uploadsMax, uploadsPerOwnerMax } = this.#options.limits;
    const own = this.#coming.get(ownerId) ?? 0;
    if (this.#comingInAll >= uploadsMax || own >= uploadsPerOwnerMax) return false;
    this.#coming.set(ownerId, own + 1);
    this.#comingInAll++;
    return true;
  }

  #end(ownerId: string): void {
    const own = (this.#coming.get(ownerId) ?? 1) - 1;
    if (own === 0) this.#coming.delete(ownerId);
    else this.#coming.set(ownerId, own);
    this.#comingInAll--;
  }
}
