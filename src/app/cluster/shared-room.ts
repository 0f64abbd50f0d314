import type { KeptFiles } from '../../control/storage/kept-files.ts';
import { Failure } from '../../protocol/errors.ts';

/** The room for stored files that workers share: the primary counts what all of them keep. */
export class SharedRoom {
  readonly #kept: Pick<KeptFiles, 'has' | 'room'>;
  /** Bytes of files that each worker is about to keep, by CID. */
  readonly #unsettled = new Map<number, Map<string, number>>();

  constructor(kept: Pick<KeptFiles, 'has' | 'room'>) {
    this.#kept = kept;
  }

  /** @returns whether there is room. */
  take(worker: number, cid: string, bytes: number): boolean {
    try {
      this.#kept.room.take(bytes);
    } catch (thrown) {
      if (thrown instanceof Failure) return false;
      throw thrown;
    }
    const own = this.#unsettled.get(worker) ?? new Map<string, number>();
    this.#unsettled.set(worker, own.set(cid, bytes));
    return true;
  }

  /** What became of a file that a worker took room for. */
  settle(worker: number, cid: string, isKept: boolean): void {
    const bytes = this.#unsettled.get(worker)?.get(cid);
    if (bytes === undefined) return;
    this.#unsettled.get(worker)?.delete(cid);
    if (!isKept) this.#kept.room.giveBack(bytes);
  }

  /** A worker is gone: what it was about to keep is there, or it is not. */
  async left(worker: number): Promise<void> {
    const own = this.#unsettled.get(worker);
    this.#unsettled.delete(worker);
    for (const [cid, bytes] of own ?? []) {
      if (!(await this.#kept.has(cid))) this.#kept.room.giveBack(bytes);
    }
  }
}
