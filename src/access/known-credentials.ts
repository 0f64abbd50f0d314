/** How many are held, a power of two. A place takes about 200 bytes. */
const PLACES = 4_096;

/** Whether two texts are the same, after as much work whatever they have in common. */
function areSame(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i);
  return difference === 0;
}

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
 */
export class KnownCredentials {
  readonly #texts: string[] = new Array<string>(PLACES).fill('');
  readonly #fingerprints: (string | null)[] = new Array<null>(PLACES).fill(null);

  /** The fingerprint of a credential; null when it is not here. */
  find(credential: string): string | null {
    const place = placeOf(credential);
    return areSame(credential, this.#texts[place] as string) ? (this.#fingerprints[place] ?? null) : null;
  }

  keep(credential: string, fingerprint: string): void {
    const place = placeOf(credential);
    this.#texts[place] = credential;
    this.#fingerprints[place] = fingerprint;
  }
}
