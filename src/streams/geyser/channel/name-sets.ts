import { sharedNames } from './shared-names.ts';

/** Sets of more than one name that are remembered, and their bytes altogether. */
const SETS_MAX = 1024;
const BYTES_MAX = 64 * 1024;

type NameSet = Readonly<{ ordinals: Int32Array; encoded: Uint8Array }>;

/** Encoded names of filters that passed together, each set encoded once as long as there are not too many of them. */
export class NameSets {
  readonly #names: readonly string[];
  readonly #sets = new Map<number, NameSet>();
  #bytes = 0;

  /** @param names - of the filters, by their ordinals. */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** One name alone, which is not remembered here. */
  one(ordinal: number): Uint8Array {
    return sharedNames([this.#names[ordinal] as string]);
  }

  /** @param ordinals - the first `count` of them, ascending. */
  of(ordinals: Int32Array, count: number): Uint8Array {
    let hash = count;
    for (let i = 0; i < count; i++)
      hash = Math.imul(hash ^ (ordinals[i] as number), 0x9e3779b1) ^ (hash >>> 15);
    const existing = this.#sets.get(hash);
    if (existing !== undefined && isSame(existing.ordinals, ordinals, count)) return existing.encoded;
    return this.#encode(hash, ordinals.slice(0, count));
  }

  #encode(hash: number, ordinals: Int32Array): Uint8Array {
    const encoded = sharedNames(Array.from(ordinals, (ordinal) => this.#names[ordinal] as string));
    this.#bytes += encoded.length + ordinals.byteLength;
    if (this.#bytes > BYTES_MAX || this.#sets.size >= SETS_MAX) {
      this.#sets.clear();
      this.#bytes = encoded.length + ordinals.byteLength;
    }
    if (this.#bytes <= BYTES_MAX) this.#sets.set(hash, { ordinals, encoded });
    else this.#bytes = 0;
    return encoded;
  }
}

function isSame(existing: Int32Array, ordinals: Int32Array, count: number): boolean {
  if (existing.length !== count) return false;
  for (let i = 0; i < count; i++) {
    if (existing[i] !== ordinals[i]) return false;
  }
  return true;
}
