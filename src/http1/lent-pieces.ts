/** As much as is read from a connection at a time. */
const ROOM_BYTES = 64 * 1024;
/** Shorter pieces have memory of their own: a room would mostly be empty. */
const LENT_FROM_BYTES = 16 * 1024;
/** Rooms that lie ready, for all connections together. */
const READY_MAX = 64;

/**
 * Memory for the pieces of long bodies that are passed on while they come. Memory that is new for each piece is paid for
 * three times over by the garbage collector, which is called by how much of it there was; a room that is used again costs no
 * more than the copy. Whoever has written a piece gives it back; one that nobody gives back is the collector's.
 */
export class LentPieces {
  readonly #ready: Buffer[] = [];
  readonly #lent = new WeakSet<ArrayBufferLike>();

  /** Rooms that lie ready. */
  get ready(): number {
    return this.#ready.length;
  }

  /** A copy of these bytes, which is its reader's until that gives it back. */
  copyOf(bytes: Buffer, start: number, end: number): Buffer {
    const length = end - start;
    const isLent = length >= LENT_FROM_BYTES && length <= ROOM_BYTES;
    const room = isLent ? this.#room() : Buffer.allocUnsafe(length);
    bytes.copy(room, 0, start, end);
    return room.length === length ? room : room.subarray(0, length);
  }

  /** Nobody looks at a piece, or at a part of one, any more. Of memory that was not lent here nothing becomes. */
  giveBack({ buffer }: Buffer): void {
    if (!this.#lent.delete(buffer) || this.#ready.length >= READY_MAX) return;
    this.#ready.push(Buffer.from(buffer, 0, ROOM_BYTES));
  }

  #room(): Buffer {
    const room = this.#ready.pop() ?? Buffer.allocUnsafeSlow(ROOM_BYTES);
    this.#lent.add(room.buffer);
    return room;
  }
}

/** Those of the process. */
export const lentPieces = new LentPieces();
