import type { FileStore } from '../../control/storage/file-store.ts';
import { Failure } from '../../protocol/errors.ts';

/** The room for stored files that workers share: the primary counts what all of them keep. */
export class ClusterStorageQuota {
  readonly #files: Pick<FileStore, 'has' | 'quota'>;
  /** Bytes of files that each worker is about to keep, by CID. */
  readonly #reservations = new Map<number, Map<string, number>>();

  constructor(files: Pick<FileStore, 'has' | 'quota'>) {
    this.#files = files;
  }

  /** @returns whether there is room. */
  reserve(worker: number, cid: string, bytes: number): boolean {
    try {
      this.#files.quota.reserve(bytes);
    } catch (thrown) {
      if (thrown instanceof Failure) return false;
      throw thrown;
    }
    const reserved = this.#reservations.get(worker) ?? new Map<string, number>();
    this.#reservations.set(worker, reserved.set(cid, bytes));
    return true;
  }

  /** Outcome of a file for which a worker reserved storage. */
  settle(worker: number, cid: string, isStored: boolean): void {
    const bytes = this.#reservations.get(worker)?.get(cid);
    if (bytes === undefined) return;
    this.#reservations.get(worker)?.delete(cid);
    if (!isStored) this.#files.quota.release(bytes);
  }

  /** A worker is gone: what it was about to keep is there, or it is not. */
  async releaseWorker(worker: number): Promise<void> {
    const reserved = this.#reservations.get(worker);
    this.#reservations.delete(worker);
    for (const [cid, bytes] of reserved ?? []) {
      if (!(await this.#files.has(cid))) this.#files.quota.release(bytes);
    }
  }
}
