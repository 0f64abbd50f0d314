import type { ByteBudget } from '../../base/byte-budget.ts';
import { Failure } from '../../protocol/errors.ts';
import { GrowingBody } from '../request-body.ts';

/** The bodies of a connection, one after the other: each in one piece, as nearly all come, or in several. */
export class ArrivingBody {
  readonly #budget: ByteBudget;
  /** Bytes of the budget that a body in one piece takes. */
  #heldBytes = 0;
  #growing: GrowingBody | null = null;
  /** Bytes that are still to come. */
  missing = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  begin(length: number): void {
    this.missing = length;
  }

  /** Throws away what there is of it. @returns how far that goes. */
  discard(at: number, end: number): number {
    const here = Math.min(this.missing, end - at);
    this.missing -= here;
    return at + here;
  }

  /**
   * Takes a copy of the next piece.
   * @param end - not beyond what is missing.
   * @returns the body once it is whole, else null.
   * @throws Failure OVERLOADED
   */
  take(bytes: Buffer, start: number, end: number): Buffer | null {
    const all = this.missing;
    this.missing -= end - start;
    if (this.missing === 0 && this.#growing === null) return this.#keep(bytes, start, end);
    this.#growing ??= new GrowingBody(all, this.#budget);
    this.#growing.add(bytes.subarray(start, end), all);
    return this.missing === 0 ? this.#growing.whole() : null;
  }

  #keep(bytes: Buffer, start: number, end: number): Buffer {
    const length = end - start;
    if (!this.#budget.take(length)) throw new Failure('OVERLOADED');
    this.#heldBytes = length;
    const body = Buffer.allocUnsafe(length);
    bytes.copy(body, 0, start, end);
    return body;
  }

  /** Nobody needs the body any more. */
  giveBack(): void {
    if (this.#heldBytes > 0) this.#budget.giveBack(this.#heldBytes);
    this.#heldBytes = 0;
    this.#growing?.giveBack();
    this.#growing = null;
  }
}
