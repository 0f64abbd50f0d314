import { randomInt } from 'node:crypto';

/** Bits for each address: about one in seventeen that are not there passes. */
const BITS_EACH_LOG2 = 4;

/** Odd, and drawn anew by each process. */
const factor = randomInt(2 ** 31) * 2 + 1;

/**
 * Lets go of most addresses that are not in a table by a look at their first four bytes. Whoever chooses addresses that
 * pass it makes everybody look into the table, and no more than that.
 */
export class AddressBloomFilter {
  readonly #bits: Int32Array;
  readonly #shift: number;

  /** @param places - addresses that there will be at most; a power of two from 8 on. */
  constructor(capacity: number) {
    const bitsLog2 = Math.min(Math.log2(capacity) + BITS_EACH_LOG2, 32);
    this.#bits = new Int32Array(2 ** (bitsLog2 - 5));
    this.#shift = 32 - bitsLog2;
  }

  add(bytes: Uint8Array, at: number): void {
    const bit = this.#bitOf(bytes, at);
    this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] as number) | (1 << (bit & 31));
  }

  mayContain(bytes: Uint8Array, at: number): boolean {
    const bit = this.#bitOf(bytes, at);
    return (((this.#bits[bit >>> 5] as number) >>> (bit & 31)) & 1) === 1;
  }

  #bitOf(bytes: Uint8Array, at: number): number {
    const first =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    return Math.imul(first, factor) >>> this.#shift;
  }
}
