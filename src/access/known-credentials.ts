/** How many are held, a power of two. A place takes about 200 bytes. */
const PLACES = 4_096;

/** The place of a credential: its last characters are a checksum of all, and so as good as chance. */
function placeOf(credential: string): number {
  let place = 0;
  for (let i = credential.length - 4; i < credential.length; i++)
    place = place * 31 + credential.charCodeAt(i);
  return place & (PLACES - 1);
}

/**
 * The SHA-256 of credentials that were good lately, so that it need not be computed with every request. Each has one
 * place, where it takes the place of another. That one is here says nothing of whether it still is good.
 *
 * Texts are compared as they are. What that takes longer for a guess that begins well is a nanosecond or less, far below
 * what can be seen from outside; and every guess has all the work of a wrong key before it, and counts as one.
 */
export class KnownCredentials {
  readonly #texts: string[] = new Array<string>(PLACES).fill('');
  readonly #fingerprints: (string | null)[] = new Array<null>(PLACES).fill(null);

  /** The fingerprint of a credential; null when it is not here. */
  find(credential: string): string | null {
    const place = placeOf(credential);
    return credential === this.#texts[place] ? (this.#fingerprints[place] as string | null) : null;
  }

  keep(credential: string, fingerprint: string): void {
    const place = placeOf(credential);
    this.#texts[place] = credential;
    this.#fingerprints[place] = fingerprint;
  }
}
