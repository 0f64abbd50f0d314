import { LimitBook } from '../../control/shared/limit-book.ts';
import type { ExchangeStep } from '../../control/shared/limit-exchange.ts';

/** The limits that workers share, in the memory of the primary: it knows at once when one of them is gone. */
export class KeptLimits {
  readonly #book = new LimitBook();
  /** How each worker names itself there. */
  readonly #names = new Map<number, string>();

  /** One exchange of a worker. @returns an answer for each step. */
  run(worker: number, steps: readonly ExchangeStep[]): unknown[] {
    const presence = steps.find(({ name }) => name === 'presence');
    if (presence !== undefined) this.#name(worker, String(presence.values[0]));
    return this.#book.run(steps);
  }

  /** A worker is gone: the places that it held are free. */
  left(worker: number): void {
    const name = this.#names.get(worker);
    if (name !== undefined) this.#book.leave(name);
    this.#names.delete(worker);
  }

  #name(worker: number, name: string): void {
    if (this.#names.get(worker) === name) return;
    this.left(worker);
    this.#names.set(worker, name);
  }
}
