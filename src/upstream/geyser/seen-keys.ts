import { randomBytes } from 'node:crypto';
import { HalfSipHash } from '../../base/half-sip-hash.ts';

const ROWS_FIRST = 64;

/** With a key of this process, so that nobody can choose keys that meet. */
const hash = new HalfSipHash(randomBytes(8));

/**
 * Counts by keys of bytes, in 12 bytes a key: each is known by 64 bits of a hash with a secret key, so two keys of a
 * slot are taken for one about once in 10^11 slots of 10,000 keys. Nothing is allocated for a key.
 */
export class SeenKeys {
  readonly #max: number;
  /** Rows of two hashes and a count; a row with count 0 is free. */
  #rows = new Int32Array(ROWS_FIRST * 3);
  #mask = ROWS_FIRST - 1;
  #size = 0;

  /** @param max - keys that are remembered; beyond it, `raise` takes every other one for new, each time. */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Raises the count of a key to a number.
   * @param first - whole words of 4 bytes.
   * @param second - behind the first, which makes one key of both.
   * @returns whether it was lower; true for a key that is not remembered when there is no room.
   */
  raise(first: Uint8Array, second: Uint8Array | null, to: number): boolean {
    hash.of(first, second);
    return this.#raise(hash.low, hash.high, to);
  }

  #raise(one: number, two: number, to: number): boolean {
    const at = this.#find(one, two);
    const count = this.#rows[at + 2]!;
    if (count >= to) return false;
    if (count === 0) {
      if (this.#size >= this.#max) return true;
      this.#rows[at] = one;
      this.#rows[at + 1] = two;
      this.#size++;
    }
    this.#rows[at + 2] = to;
    if (this.#size * 2 > this.#mask) this.#grow();
    return true;
  }

  /** Where the key is, or would be. */
  #find(one: number, two: number): number {
    const rows = this.#rows;
    for (let row = one & this.#mask; ; row = (row + 1) & this.#mask) {
      const at = row * 3;
      if (rows[at + 2] === 0 || (rows[at] === one && rows[at + 1] === two)) return at;
    }
  }

  #grow(): void {
    const old = this.#rows;
    this.#rows = new Int32Array(old.length * 2);
    this.#mask = this.#rows.length / 3 - 1;
    for (let at = 0; at < old.length; at += 3) {
      if (old[at + 2] === 0) continue;
      const to = this.#find(old[at]!, old[at + 1]!);
      this.#rows.set(old.subarray(at, at + 3), to);
    }
  }
}
