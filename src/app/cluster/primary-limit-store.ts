import { InMemoryLimitStore, type LimitCommand } from '../../control/shared/limit-store.ts';

/** Limit store of all workers, in the memory of the primary, which notices at once when a worker exits. */
export class PrimaryLimitStore {
  readonly #store = new InMemoryLimitStore();
  readonly #names = new Map<number, string>();

  execute(worker: number, steps: readonly LimitCommand[]): unknown[] {
    const presence = steps.find(({ name }) => name === 'presence');
    if (presence !== undefined) this.#name(worker, String(presence.values[0]));
    return this.#store.execute(steps);
  }

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
