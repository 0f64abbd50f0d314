/** The fields of a response that are read; all others are passed over. */
export type TrackedHeader = 'content-length' | 'retry-after' | 'keep-alive';

const NAME_MAX_BYTES = 14;

const bytesOf = (name: TrackedHeader): Buffer => Buffer.from(name);
const CONTENT_LENGTH = bytesOf('content-length');
const RETRY_AFTER = bytesOf('retry-after');
const KEEP_ALIVE = bytesOf('keep-alive');

/** The name of a field, which may come in pieces, in any case of letters. */
export class HeaderNameMatcher {
  readonly #bytes = Buffer.alloc(NAME_MAX_BYTES);
  #length = 0;

  clear(): void {
    this.#length = 0;
  }

  add(bytes: Buffer, start: number, end: number): void {
    let at = this.#length;
    this.#length = at + end - start;
    if (this.#length > NAME_MAX_BYTES) return;
    // Sets the bit that small letters have; a hyphen has it already.
    for (let from = start; from < end; from++) this.#bytes[at++] = (bytes[from] as number) | 0x20;
  }

  /** Which of the known names it is; null for any other. */
  get match(): TrackedHeader | null {
    switch (this.#length) {
      case CONTENT_LENGTH.length:
        return this.#is(CONTENT_LENGTH) ? 'content-length' : null;
      case RETRY_AFTER.length:
        return this.#is(RETRY_AFTER) ? 'retry-after' : null;
      case KEEP_ALIVE.length:
        return this.#is(KEEP_ALIVE) ? 'keep-alive' : null;
      default:
        return null;
    }
  }

  #is(name: Buffer): boolean {
    for (let at = 0; at < name.length; at++) if (this.#bytes[at] !== name[at]) return false;
    return true;
  }
}
