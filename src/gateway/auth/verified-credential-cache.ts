/** How many are held, a power of two: more than keys are in use at once. A place that is taken costs about 200 bytes. */
const ENTRIES_MAX = 65_536;
/** Places that a credential may have. With one, of 10,000 keys in use each seventh would be in the way of another. */
const WAYS = 4;
/** What stands in a place: the mark of a credential, its text and what it was found to be. They lie together. */
const FIELDS_PER_ENTRY = 3;

type Field<Found> = number | string | Found | null;

/** The mark of a credential: its last characters are a checksum of all, and so as good as chance. */
function tagOf(credential: string): number {
  let tag = 0;
  for (let i = credential.length - 5; i < credential.length; i++) tag = tag * 31 + credential.charCodeAt(i);
  return tag & (2 ** 30 - 1);
}

/** The first place of those that a credential of this mark may have. */
const firstIndexOf = (tag: number): number => (tag & (ENTRIES_MAX / WAYS - 1)) * WAYS * FIELDS_PER_ENTRY;

/**
 * What credentials were found to be that were good lately, so that it need not be found out with every request. Each has
 * a few places, where it takes the place of another. Whoever keeps one takes it out when it changes, and looks
 * each time whether it has ended.
 *
 * Texts are compared as they are. What that takes longer for a guess that begins well is a nanosecond or less, far below
 * what can be seen from outside; and every guess has all the work of a wrong key behind it, and counts as one.
 */
export class VerifiedCredentialCache<Found> {
  readonly #fields: Field<Found>[] = new Array<null>(ENTRIES_MAX * FIELDS_PER_ENTRY).fill(null);
  /** Turns with each that takes the place of another. */
  #nextVictim = 0;

  /** What a credential is; null when it is not here. */
  find(credential: string): Found | null {
    const tag = tagOf(credential);
    const first = firstIndexOf(tag);
    for (let index = first; index < first + WAYS * FIELDS_PER_ENTRY; index += FIELDS_PER_ENTRY) {
      // The text itself lies elsewhere: only one that has the mark is looked at.
      if (this.#fields[index] !== tag || this.#fields[index + 1] !== credential) continue;
      return this.#fields[index + 2] as Found;
    }
    return null;
  }

  /** @returns the place, with which it is taken out again. */
  put(credential: string, found: Found): number {
    const tag = tagOf(credential);
    const index = this.#indexFor(firstIndexOf(tag));
    this.#fields[index] = tag;
    this.#fields[index + 1] = credential;
    this.#fields[index + 2] = found;
    return index;
  }

  /** Takes out what was kept in a place, if it still has it. */
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
