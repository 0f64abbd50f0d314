const wordAt = (bytes: Uint8Array, at: number): number =>
  bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);

/** Hashing two zero words runs the four finalization rounds. */
const zeroWords = new Uint8Array(8);
/** Last word of every input: its highest byte holds the input length. */
const lengthWord = new Uint8Array(4);

/**
 * HalfSipHash-2-4 with a 64-bit result: without the key, colliding inputs cannot be constructed. Allocates nothing; the
 * result is in `low` and `high` until the next call. Source: Aumasson, github.com/veorq/SipHash, halfsiphash.c.
 */
export class HalfSipHash {
  low = 0;
  high = 0;
  readonly #key0: number;
  readonly #key1: number;
  #v0 = 0;
  #v1 = 0;
  #v2 = 0;
  #v3 = 0;

  /** @param key - 8 bytes. */
  constructor(key: Uint8Array) {
    this.#key0 = wordAt(key, 0);
    this.#key1 = wordAt(key, 4);
  }

  /** Hashes the concatenation of both inputs, whose lengths must be multiples of 4 bytes. */
  of(first: Uint8Array, second: Uint8Array | null): void {
    this.#v0 = this.#key0;
    this.#v1 = this.#key1 ^ 0xee;
    this.#v2 = this.#key0 ^ 0x6c796765;
    this.#v3 = this.#key1 ^ 0x74656462;
    this.#take(first);
    if (second !== null) this.#take(second);
    lengthWord[3] = first.length + (second?.length ?? 0);
    this.#take(lengthWord);
    this.#v2 ^= 0xee;
    this.#take(zeroWords);
    this.low = this.#v1 ^ this.#v3;
    this.#v1 ^= 0xdd;
    this.#take(zeroWords);
    this.high = this.#v1 ^ this.#v3;
  }

  #take(bytes: Uint8Array): void {
    let v0 = this.#v0;
    let v1 = this.#v1;
    let v2 = this.#v2;
    let v3 = this.#v3;
    for (let at = 0; at + 4 <= bytes.length; at += 4) {
      const word = wordAt(bytes, at);
      v3 ^= word;
      for (let round = 0; round < 2; round++) {
        v0 = (v0 + v1) | 0;
        v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
        v0 = (v0 << 16) | (v0 >>> 16);
        v2 = (v2 + v3) | 0;
        v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
        v0 = (v0 + v3) | 0;
        v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
        v2 = (v2 + v1) | 0;
        v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
        v2 = (v2 << 16) | (v2 >>> 16);
      }
      v0 ^= word;
    }
    this.#v0 = v0;
    this.#v1 = v1;
    this.#v2 = v2;
    this.#v3 = v3;
  }
}
