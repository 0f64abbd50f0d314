import { Failure } from '../../protocol/errors.ts';
import type { StorageLimits } from './storage-limits.ts';

/** Room for files that several processes keep in one folder. */
export interface SharedStorageQuota {
  /** @throws Failure STORAGE_FULL, STORAGE_UNAVAILABLE */
  reserve(cid: string, bytes: number): Promise<void>;
  /** Says what became of a file that room was taken for. */
  settle(cid: string, isStored: boolean): void;
}

/** How many files are kept, with their bytes, and how many there may be. */
export class StorageQuota {
  readonly #limits: Pick<StorageLimits, 'filesMax' | 'totalMaxBytes'>;
  #files = 0;
  #bytes = 0;

  constructor(limits: Pick<StorageLimits, 'filesMax' | 'totalMaxBytes'>) {
    this.#limits = limits;
  }

  get files(): number {
    return this.#files;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a file that is there. */
  add(bytes: number): void {
    this.#files++;
    this.#bytes += bytes;
  }

  /** Counts a file that is to be there. @throws Failure STORAGE_FULL */
  reserve(bytes: number): void {
    const { filesMax, totalMaxBytes } = this.#limits;
    if (this.#files + 1 > filesMax || this.#bytes + bytes > totalMaxBytes) throw new Failure('STORAGE_FULL');
    this.add(bytes);
  }

  release(bytes: number): void {
    this.#files--;
    this.#bytes -= bytes;
  }
}
