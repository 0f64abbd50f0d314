/** How many are held, a power of two: more than keys are in use at once. A place that is taken costs about 200 bytes. */
const PLACES = 65_536;
/** Places that a credential may have. With one, of 10,000 keys in use each seventh would be in the way of another. */
const WAYS = 4;
/** What stands in a place: the mark of a credential, its text and what it was found to be. They lie together. */
const FIELDS = 3;

type Field<Found> = number | string | Found | null;

/** The mark of a credential: its last characters are a checksum of all, and so as good as chance. */
function markOf(credential: string): number {
  let mark = 0;
  for (let i = credential.length - 5; i < credential.length; i++) mark = mark * 31 + credential.charCodeAt(i);
  return mark & (2 ** 30 - 1);
}

/** The first place of those that a credential of this mark may have. */
const firstPlaceOf = (mark: number): number => (mark & (PLACES / WAYS - 1)) * WAYS * FIELDS;

/**
 * What credentials were found to be that were good lately, so that it need not be found out with every request. Each has
 * a few places, where it takes the place of another. Whoever keeps one takes it out when it changes, and looks
 * each time whether it has ended.
 *
 * Texts are compared as they are. What that takes longer for a guess that begins well is a nanosecond or less, far below
 * what can be seen from outside; and every guess has all the work of a wrong key behind it, and counts as one.
 */
export class KnownCredentials<Found> {
  readonly #fields: Field<Found>[] = new Array<null>(PLACES * FIELDS).fill(null);
  /** Turns with each that takes the place of another. */
  #turn = 0;

  /** What a credential is; null when it is not here. */
  find(credential: string): Found | null {
    const mark = markOf(credential);
    const first = firstPlaceOf(mark);
    for (let place = first; place < first + WAYS * FIELDS; place += FIELDS) {
      // The text itself lies elsewhere: only one that has the mark is looked at.
      if (this.#fields[place] !== mark || this.#fields[place + 1] !== credential) continue;
      return this.#fields[place + 2] as Found;
    }
    return null;
  }

  /** @returns the place, with which it is taken out again. */
  keep(credential: string, found: Found): number {
    const mark = markOf(credential);
    const place = this.#placeFor(firstPlaceOf(mark));
    this.#fields[place] = mark;
    this.#fields[place + 1] = credential;
    this.#fields[place + 2] = found;
    return place;
  }

  /** Takes out what was kept in a place, if it still has it. */
  forget(place: number, found: Found): void {
    if (this.#fields[place + 2] === found) this.#fields.fill(null, place, place + FIELDS);
  }

  #placeFor(first: number): number {
    for (let place = first; place < first + WAYS * FIELDS; place += FIELDS)
      if (this.#fields[place] === null) return place;
    this.#turn = (this.#turn + 1) % WAYS;
    return first + this.#turn * FIELDS;
  }
}
