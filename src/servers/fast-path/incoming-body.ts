import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { Failure } from '../../protocol/errors.ts';
import { GrowingBody } from '../http/request-body.ts';

/** The bodies of a connection, one after the other: each in one piece, as nearly all come, or in several. */
export class IncomingBody {
  readonly #budget: ByteBudget;
  /** Bytes of the budget that a body in one piece takes. */
  #reservedBytes = 0;
  #growing: GrowingBody | null = null;
  /** Bytes that are still to come. */
  missing = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  start(length: number): void {
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
  append(bytes: Buffer, start: number, end: number): Buffer | null {
    const all = this.missing;
    this.missing -= end - start;
    if (this.missing === 0 && this.#growing === null) return this.#copyWhole(bytes, start, end);
    this.#growing ??= new GrowingBody(all, this.#budget);
    this.#growing.add(bytes.subarray(start, end), all);
    return this.missing === 0 ? this.#growing.toBuffer() : null;
  }

  #copyWhole(bytes: Buffer, start: number, end: number): Buffer {
    const length = end - start;
    if (!this.#budget.tryReserve(length)) throw new Failure('OVERLOADED');
    this.#reservedBytes = length;
    const body = Buffer.allocUnsafe(length);
    bytes.copy(body, 0, start, end);
    return body;
  }

  /** Nobody needs the body any more. */
  release(): void {
    if (this.#reservedBytes > 0) this.#budget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
    this.#growing?.release();
    this.#growing = null;
  }
}
