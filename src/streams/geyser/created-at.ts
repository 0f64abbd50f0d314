import { encodeTimestamp } from '../../protocol/geyser/encode/timestamp.ts';

/** The time of updates, encoded once for all that follow each other in one millisecond. */
export class CreatedAt {
  #unixMs: bigint | null = null;
  #encoded: Uint8Array = new Uint8Array();

  /** `google.protobuf.Timestamp`. */
  of(unixMs: bigint): Uint8Array {
    if (unixMs !== this.#unixMs) {
      this.#unixMs = unixMs;
      this.#encoded = encodeTimestamp(unixMs);
    }
    return this.#encoded;
  }
}
