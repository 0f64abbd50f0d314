/** What is known of a URI: the document, or that there is none; until a time on the wall clock, in milliseconds. */
export type CachedDocument = Readonly<{ document: Buffer | null; until: number }>;

/** What an entry takes beside its document and its URI; an estimate. */
const ENTRY_BYTES = 256;
const BYTES_PER_CHARACTER = 2;

const sizeOf = (uri: string, { document }: CachedDocument): number =>
  ENTRY_BYTES + uri.length * BYTES_PER_CHARACTER + (document?.length ?? 0);

/** The documents asked for last, in memory of bounded size. */
export class DocumentMemoryCache {
  /** In the order of use, the one used longest ago first. */
  readonly #entries = new Map<string, CachedDocument>();
  readonly #maxBytes: number;
  readonly #now: () => number;
  #bytes = 0;

  constructor(maxBytes: number, now: () => number) {
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  /** Of all that is kept; an estimate. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What is kept of the URI; null when nothing is, or not any more. */
  get(uri: string): CachedDocument | null {
    const cached = this.#entries.get(uri);
    if (cached === undefined) return null;
    this.delete(uri);
    if (cached.until <= this.#now()) return null;
    this.#insert(uri, cached);
    return cached;
  }

  /** Keeps it, in place of what was asked for longest ago where there is no room. */
  set(uri: string, cached: CachedDocument): void {
    this.delete(uri);
    this.#insert(uri, cached);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.delete(oldest);
    }
  }

  /** Keeps nothing of the URI any more. */
  delete(uri: string): void {
    const cached = this.#entries.get(uri);
    if (cached === undefined) return;
    this.#entries.delete(uri);
    this.#bytes -= sizeOf(uri, cached);
  }

  #insert(uri: string, cached: CachedDocument): void {
    this.#entries.set(uri, cached);
    this.#bytes += sizeOf(uri, cached);
  }
}
