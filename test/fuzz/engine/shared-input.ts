const HEAD_BYTES = 8;
const INPUT_MAX_BYTES = 64 * 1024;

/** The current input of a thread, readable by another if the first hangs. Memory: count, length, bytes. */
export class SharedInput {
  readonly memory: SharedArrayBuffer;
  readonly #head: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(HEAD_BYTES + INPUT_MAX_BYTES)) {
    this.memory = memory;
    this.#head = new Int32Array(memory, 0, 2);
    this.#bytes = new Uint8Array(memory, HEAD_BYTES);
  }

  /** Inputs so far. */
  get count(): number {
    return Atomics.load(this.#head, 0);
  }

  put(input: Uint8Array): void {
    this.#bytes.set(input.subarray(0, INPUT_MAX_BYTES));
    Atomics.store(this.#head, 1, Math.min(input.length, INPUT_MAX_BYTES));
    Atomics.add(this.#head, 0, 1);
  }

  get(): Uint8Array {
    return Uint8Array.from(this.#bytes.subarray(0, Atomics.load(this.#head, 1)));
  }
}
