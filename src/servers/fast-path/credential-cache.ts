import { credentialIn } from '../credential.ts';

/** How many are held, a power of two. */
const ENTRIES_MAX = 4_096;
/** Longer ones are looked at each time: they are no keys. */
const CACHED_MAX_BYTES = 256;

/** What a field `Authorization` shows; the same object for as long as it is held. */
export type CachedAuthorization = Readonly<{
  bytes: Buffer;
  /** null: it shows none. */
  credential: string | null;
}>;

/** The last characters of a key are a checksum of all, and so as good as chance. */
function indexOf(bytes: Buffer, start: number, end: number): number {
  let index = 0;
  for (let at = Math.max(start, end - 4); at < end; at++) index = index * 31 + (bytes[at] as number);
  return index & (ENTRIES_MAX - 1);
}

function isSame(cached: Buffer, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < cached.length; i++) if (bytes[start + i] !== cached[i]) return false;
  return true;
}

/** The same text in characters of its own: a part of another is slower to look into. */
const flatten = (text: string | null): string | null =>
  text === null ? null : Buffer.from(text, 'latin1').toString('latin1');

/**
 * The credentials in fields `Authorization` that came lately, by their bytes, so that neither field nor credential is made
 * again. Each has one place, where it takes the place of another. Whether one is good is not known here: those who ask
 * that compare the texts, which are the same objects then, and so need not be gone through.
 */
export class CredentialCache {
  readonly #entries: (CachedAuthorization | null)[] = new Array<null>(ENTRIES_MAX).fill(null);

  /** @param end - of the field's value in the bytes. */
  of(bytes: Buffer, start: number, end: number): CachedAuthorization {
    const index = indexOf(bytes, start, end);
    const cached = this.#entries[index] ?? null;
    if (cached !== null && cached.bytes.length === end - start && isSame(cached.bytes, bytes, start))
      return cached;
    const copy = Buffer.allocUnsafeSlow(end - start);
    bytes.copy(copy, 0, start, end);
    const entry: CachedAuthorization = {
      bytes: copy,
      credential: flatten(credentialIn(copy.toString('latin1'), '')),
    };
    if (copy.length <= CACHED_MAX_BYTES) this.#entries[index] = entry;
    return entry;
  }
}
