import type { LimitCommand } from '../../control/shared/limit-store.ts';
import { InMemoryLimitStore } from '../../control/shared/limit-store.ts';

/** The limits that workers share, in the memory of the primary: it knows at once when one of them is gone. */
export class PrimaryLimitStore {
  readonly #store = new InMemoryLimitStore();
  /** How each worker names itself there. */
  readonly #names = new Map<number, string>();

  /** One exchange of a worker. @returns an answer for each step. */
  execute(worker: number, steps: readonly LimitCommand[]): unknown[] {
    const presence = steps.find(({ name }) => name === 'presence');
    if (presence !== undefined) this.#name(worker, String(presence.values[0]));
    return this.#store.execute(steps);
  }

  /** A worker is gone: the places that it held are free. */
  removeWorker(worker: number): void {
    const name = this.#names.get(worker);
    if (name !== undefined) this.#store.removeGateway(name);
    this.#names.delete(worker);
  }

  #name(worker: number, name: string): void {
    if (this.#names.get(worker) === name) return;
    this.removeWorker(worker);
    this.#names.set(worker, name);
  }
}
