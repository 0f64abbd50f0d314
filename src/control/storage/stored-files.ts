import { OwnerPlaces, type OwnerPlacesLimits } from '../../base/owner-places.ts';
import { Failure } from '../../protocol/errors.ts';
import { type FileAbout, fitAbout } from './about.ts';
import { storageFault } from './fault.ts';
import type { Incoming, IncomingFile } from './incoming.ts';
import type { Keeper } from './keeper.ts';
import type { StorageLimits } from './limits.ts';

/** What files are taken in with. */
export type StoredFilesOptions = Readonly<{
  incoming: Incoming;
  keeper: Keeper;
  limits: StorageLimits;
  /** What stands before a CID in the URI of a file: `https://gateway.example/ipfs/`; asked when a file is stored. */
  uriPrefix: () => string;
}>;

/** Whose file it is, besides what is said of it. */
export type Sent = Readonly<FileAbout & { ownerId: string }>;

const placesOf = (limits: StorageLimits): OwnerPlacesLimits => ({
  placesMax: limits.uploadsMax,
  ownerPlacesMax: limits.uploadsPerOwnerMax,
  waitingMax: limits.uploadsWaitingMax,
  ownerWaitingMax: limits.uploadsWaitingMax,
  waitMs: limits.uploadsWaitMs,
});

async function* asOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

/** Takes files in, and gives them to whoever keeps them. */
export class StoredFiles {
  readonly #options: StoredFilesOptions;
  /** Places of files that come as fast as their senders send them. */
  readonly #coming: OwnerPlaces;
  /** As many for those that are here whole: they are quick, and wait for no sender. */
  readonly #whole: OwnerPlaces;

  constructor(options: StoredFilesOptions) {
    this.#options = options;
    this.#coming = new OwnerPlaces(placesOf(options.limits));
    this.#whole = new OwnerPlaces(placesOf(options.limits));
  }

  /** Files that are coming now. */
  get coming(): number {
    return this.#coming.taken;
  }

  /**
   * Stores a file while it comes, or one that is here whole. The same bytes are stored once, and have the same CID.
   * @throws Failure FILE_TOO_LARGE, STORAGE_FULL, STORAGE_UNAVAILABLE, OVERLOADED, CLIENT_GONE, or what `bytes`
   * throws. Nothing is left then.
   */
  async put(
    bytes: AsyncIterable<Uint8Array> | Uint8Array,
    sent: Sent,
    signal: AbortSignal,
  ): Promise<Readonly<{ cid: string; uri: string }>> {
    return bytes instanceof Uint8Array
      ? this.#putAt(this.#whole, asOnePiece(bytes), sent, signal)
      : this.#putAt(this.#coming, bytes, sent, signal);
  }

  async #putAt(
    places: OwnerPlaces,
    bytes: AsyncIterable<Uint8Array>,
    sent: Sent,
    signal: AbortSignal,
  ): Promise<Readonly<{ cid: string; uri: string }>> {
    if (!(await places.take(sent.ownerId, signal))) {
      await bytes[Symbol.asyncIterator]().return?.();
      throw new Failure(signal.aborted ? 'CLIENT_GONE' : 'OVERLOADED');
    }
    try {
      const file = await this.#options.incoming.receive(bytes, signal);
      await this.#keep(file, sent);
      return { cid: file.cid, uri: `${this.#options.uriPrefix()}${file.cid}` };
    } finally {
      places.giveBack(sent.ownerId);
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
