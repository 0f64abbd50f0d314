import { InMemoryLimitStore, type LimitCommand } from '../../control/shared/limit-store.ts';

/** Limit store shared by all workers, in the primary process. Releases the connections of exited workers at once. */
export class PrimaryLimitStore {
  readonly #store = new InMemoryLimitStore();
  /** Gateway name of each worker, from its `presence` command. */
  readonly #gatewayNames = new Map<number, string>();

  execute(worker: number, steps: readonly LimitCommand[]): unknown[] {
    const presence = steps.find(({ name }) => name === 'presence');
    if (presence !== undefined) this.#setGatewayName(worker, String(presence.values[0]));
    return this.#store.execute(steps);
  }

  removeWorker(worker: number): void {
    const name = this.#gatewayNames.get(worker);
    if (name !== undefined) this.#store.removeGateway(name);
    this.#gatewayNames.delete(worker);
  }

  #setGatewayName(worker: number, name: string): void {
    if (this.#gatewayNames.get(worker) === name) return;
    this.removeWorker(worker);
    this.#gatewayNames.set(worker, name);
  }
}
