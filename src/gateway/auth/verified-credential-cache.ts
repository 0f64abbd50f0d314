/** A power of two, more than keys are in use at once. An entry costs about 200 bytes. */
const ENTRIES_MAX = 65_536;
/** Associativity. With one way, every seventh of 10,000 keys in use would evict another. */
const WAYS = 4;
/** Tag, credential and value, adjacent in memory. */
const FIELDS_PER_ENTRY = 3;

type Field<Found> = number | string | Found | null;

/** Hashes the last characters, which are a checksum of the whole credential and so evenly distributed. */
function tagOf(credential: string): number {
  let tag = 0;
  for (let i = credential.length - 5; i < credential.length; i++) tag = tag * 31 + credential.charCodeAt(i);
  return tag & (2 ** 30 - 1);
}

const firstIndexOf = (tag: number): number => (tag & (ENTRIES_MAX / WAYS - 1)) * WAYS * FIELDS_PER_ENTRY;

/**
 * Set-associative cache of credentials verified lately. The user removes an entry when it changes and checks
 * expiry on each hit.
 * Credentials are compared without constant time. The difference for a guess with a correct prefix is about a
 * nanosecond, and each guess is then fully verified and counted as failed authentication.
 */
export class VerifiedCredentialCache<Found> {
  readonly #fields: Field<Found>[] = new Array<null>(ENTRIES_MAX * FIELDS_PER_ENTRY).fill(null);
  /** Rotates with each eviction. */
  #nextVictim = 0;

  find(credential: string): Found | null {
    const tag = tagOf(credential);
    const first = firstIndexOf(tag);
    for (let index = first; index < first + WAYS * FIELDS_PER_ENTRY; index += FIELDS_PER_ENTRY) {
      // The tag is compared first: the text is elsewhere in memory.
      if (this.#fields[index] !== tag || this.#fields[index + 1] !== credential) continue;
      return this.#fields[index + 2] as Found;
    }
    return null;
  }

  /** @returns the index of the entry, for `remove`. */
  put(credential: string, found: Found): number {
    const tag = tagOf(credential);
    const index = this.#indexFor(firstIndexOf(tag));
    this.#fields[index] = tag;
    this.#fields[index + 1] = credential;
    this.#fields[index + 2] = found;
    return index;
  }

  /** Removes an entry if its index still holds it. */
  remove(index: number, found: Found): void {
    if (this.#fields[index + 2] === found) this.#fields.fill(null, index, index + FIELDS_PER_ENTRY);
  }

  #indexFor(first: number): number {
    for (let index = first; index < first + WAYS * FIELDS_PER_ENTRY; index += FIELDS_PER_ENTRY)
      if (this.#fields[index] === null) return index;
    this.#nextVictim = (this.#nextVictim + 1) % WAYS;
    return first + this.#nextVictim * FIELDS_PER_ENTRY;
  }
}
