import type { FileStore } from '../../control/storage/file-store.ts';

/** Storage quota shared by all workers and counted in the primary. */
export class ClusterStorageQuota {
  readonly #files: Pick<FileStore, 'has' | 'quota'>;
  /** Reserved bytes by worker, then by CID. */
  readonly #reservations = new Map<number, Map<string, number>>();

  constructor(files: Pick<FileStore, 'has' | 'quota'>) {
    this.#files = files;
  }

  /** @returns false if the reservation would exceed the quota. */
  reserve(worker: number, cid: string, bytes: number): boolean {
    if (!this.#files.quota.tryReserve(bytes)) return false;
    const reserved = this.#reservations.get(worker) ?? new Map<string, number>();
    this.#reservations.set(worker, reserved.set(cid, bytes));
    return true;
  }

  /** Ends a reservation. If the file was not stored, releases the reserved bytes. */
  settle(worker: number, cid: string, isStored: boolean): void {
    const bytes = this.#reservations.get(worker)?.get(cid);
    if (bytes === undefined) return;
    this.#reservations.get(worker)?.delete(cid);
    if (!isStored) this.#files.quota.release(bytes);
  }

  /** Releases the reservations of an exited worker, except for files that were stored. */
  async releaseWorker(worker: number): Promise<void> {
    const reserved = this.#reservations.get(worker);
    this.#reservations.delete(worker);
    for (const [cid, bytes] of reserved ?? []) {
      if (!(await this.#files.has(cid))) this.#files.quota.release(bytes);
    }
  }
}
