import { encodeTimestamp } from '../../protocol/geyser/encode/timestamp.ts';

type Encode = (createdAt: Uint8Array) => Uint8Array;

/** The pings that streams are told: those that are due together are the same bytes. */
export class PingTails {
  readonly intervalMs: number;
  readonly #tails = new Map<Encode, Uint8Array>();
  #atMs = 0;

  constructor(intervalMs: number) {
    this.intervalMs = intervalMs;
  }

  /** @param nowMs - of the look in which it is due. */
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
