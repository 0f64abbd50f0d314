/** How many are held, a power of two: more than keys are in use at once. A place that is taken costs about 200 bytes. */
const PLACES = 65_536;

/** The place of a credential: its last characters are a checksum of all, and so as good as chance. */
function placeOf(credential: string): number {
  let place = 0;
  for (let i = credential.length - 4; i < credential.length; i++)
    place = place * 31 + credential.charCodeAt(i);
  return 2 * (place & (PLACES - 1));
}

/**
 * What credentials were found to be that were good lately, so that it need not be found out with every request. Each has
 * one place, where it takes the place of another. That one is here says nothing of whether it still is good.
 *
 * Texts are compared as they are. What that takes longer for a guess that begins well is a nanosecond or less, far below
 * what can be seen from outside; and every guess has all the work of a wrong key behind it, and counts as one.
 */
export class KnownCredentials<Found> {
  /** Text and what it was found to be, by turns: they lie together. */
  readonly #places: (string | Found | null)[] = new Array<null>(2 * PLACES).fill(null);

  /** What a credential is; null when it is not here. */
  find(credential: string): Found | null {
    const place = placeOf(credential);
    return credential === this.#places[place] ? (this.#places[place + 1] as Found) : null;
  }

  keep(credential: string, found: Found): void {
    const place = placeOf(credential);
    this.#places[place] = credential;
    this.#places[place + 1] = found;
  }
}
