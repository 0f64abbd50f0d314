const PRESENT = 1;
const COMPLETE = 2;
const FIRST_CAPACITY = 1_024;

/** From the first shred of a batch to its last, which completes its data. */
export type ShredRange = Readonly<{ first: number; last: number }>;

/**
 * Which data shreds of a slot are there, and which of them make whole batches. Neighbours without the end of a batch
 * between them are a run; both ends of a run know the other, so a shred costs the same wherever it comes.
 */
export class BatchRanges {
  #flags = new Uint8Array(FIRST_CAPACITY);
  #otherEnd = new Int32Array(FIRST_CAPACITY);
  /** How many shreds are there. */
  count = 0;
  /** Where the shred that was added last came in, if its batch has its beginning and no end yet. */
  openRange: ShredRange | null = null;
  /** The greatest place that is taken; -1 for none. */
  highest = -1;

  has(index: number): boolean {
    return ((this.#flags[index] ?? 0) & PRESENT) !== 0;
  }

  /**
   * Notes a shred that was not there.
   * @param isDataComplete - a batch ends with it.
   * @returns the batches that are whole with it: none, the one it is in, the one after it, or both.
   */
  add(index: number, isDataComplete: boolean): ShredRange[] {
    this.#reserve(index);
    this.#flags[index] = isDataComplete ? PRESENT | COMPLETE : PRESENT;
    this.count++;
    this.highest = Math.max(this.highest, index);
    const first = this.#isOpen(index - 1) ? (this.#otherEnd[index - 1] as number) : index;
    const last = !isDataComplete && this.has(index + 1) ? (this.#otherEnd[index + 1] as number) : index;
    this.#otherEnd[first] = last;
    this.#otherEnd[last] = first;
    const complete = this.#isComplete(first, last) ? [{ first, last }] : [];
    this.openRange = this.#hasStart(first) && this.#isOpen(last) ? { first, last } : null;
    // What comes after the end of a batch has its beginning now.
    if (isDataComplete && this.has(index + 1)) {
      const next = { first: index + 1, last: this.#otherEnd[index + 1] as number };
      if (this.#isComplete(next.first, next.last)) complete.push(next);
    }
    return complete;
  }

  #reserve(index: number): void {
    if (index < this.#flags.length) return;
    const capacity = Math.max(index + 1, this.#flags.length * 2);
    const [flags, otherEnd] = [new Uint8Array(capacity), new Int32Array(capacity)];
    flags.set(this.#flags);
    otherEnd.set(this.#otherEnd);
    [this.#flags, this.#otherEnd] = [flags, otherEnd];
  }

  /** There, and going on with the next. */
  #isOpen(index: number): boolean {
    return this.#flags[index] === PRESENT;
  }

  #isComplete(first: number, last: number): boolean {
    if (((this.#flags[last] as number) & COMPLETE) === 0) return false;
    return this.#hasStart(first);
  }

  #hasStart(first: number): boolean {
    return first === 0 || ((this.#flags[first - 1] as number) & COMPLETE) !== 0;
  }
}
