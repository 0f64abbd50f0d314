import { encodeTimestamp } from '../../protocol/geyser/encode/timestamp.ts';

type Encode = (createdAt: Uint8Array) => Uint8Array;

/** Ping messages; those due in the same tick share their bytes. */
export class PingTails {
  readonly intervalMs: number;
  readonly #tails = new Map<Encode, Uint8Array>();
  #atMs = 0;

  constructor(intervalMs: number) {
    this.intervalMs = intervalMs;
  }

  /** @param nowMs - of the tick. */
  tail(encode: Encode, nowMs: number): Uint8Array {
    if (nowMs !== this.#atMs) this.#tails.clear();
    this.#atMs = nowMs;
    const cached = this.#tails.get(encode);
    if (cached !== undefined) return cached;
    const encoded = encode(encodeTimestamp(BigInt(Date.now())));
    this.#tails.set(encode, encoded);
    return encoded;
  }
}
