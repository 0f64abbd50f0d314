import { credentialIn } from '../credential.ts';

/** How many are held, a power of two. */
const PLACES = 4_096;
/** Longer ones are looked at each time: they are no keys. */
const HELD_MAX_BYTES = 256;

/** What a field `Authorization` shows; the same object for as long as it is held. */
export type Shown = Readonly<{
  bytes: Buffer;
  /** null: it shows none. */
  credential: string | null;
}>;

/** The last characters of a key are a checksum of all, and so as good as chance. */
function placeOf(bytes: Buffer, start: number, end: number): number {
  let place = 0;
  for (let at = Math.max(start, end - 4); at < end; at++) place = place * 31 + (bytes[at] as number);
  return place & (PLACES - 1);
}

function isSame(held: Buffer, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < held.length; i++) if (bytes[start + i] !== held[i]) return false;
  return true;
}

/** The same text in characters of its own: a part of another is slower to look into. */
const whole = (text: string | null): string | null =>
  text === null ? null : Buffer.from(text, 'latin1').toString('latin1');

/**
 * The credentials in fields `Authorization` that came lately, by their bytes, so that neither field nor credential is made
 * again. Each has one place, where it takes the place of another. Whether one is good is not known here: those who ask
 * that compare the texts, which are the same objects then, and so need not be gone through.
 */
export class ShownCredentials {
  readonly #places: (Shown | null)[] = new Array<null>(PLACES).fill(null);

  /** @param end - of the field's value in the bytes. */
  of(bytes: Buffer, start: number, end: number): Shown {
    const place = placeOf(bytes, start, end);
    const held = this.#places[place] ?? null;
    if (held !== null && held.bytes.length === end - start && isSame(held.bytes, bytes, start)) return held;
    const own = Buffer.allocUnsafeSlow(end - start);
    bytes.copy(own, 0, start, end);
    const shown: Shown = { bytes: own, credential: whole(credentialIn(own.toString('latin1'), '')) };
    if (own.length <= HELD_MAX_BYTES) this.#places[place] = shown;
    return shown;
  }
}
