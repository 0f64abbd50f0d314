/** As much as is read from a connection to a node at a time: so much that how often counts little for answers of 1 MiB. */
export const READ_MAX_BYTES = 256 * 1024;
/** Shorter pieces have memory of their own: a room would mostly be empty. */
const LENT_FROM_BYTES = 16 * 1024;

/** Rooms of one size that lie ready, for all connections together. */
type Rooms = Readonly<{ bytes: number; readyMax: number; ready: Buffer[] }>;

/** By size; 8 MiB in all. */
const rooms = (): readonly Rooms[] => [
  { bytes: 64 * 1024, readyMax: 64, ready: [] },
  { bytes: READ_MAX_BYTES, readyMax: 16, ready: [] },
];

/**
 * Memory for the pieces of long bodies that are passed on while they come. Memory that is new for each piece is paid for
 * three times over by the garbage collector, which is called by how much of it there was; a room that is used again costs no
 * more than the copy. Whoever has written a piece gives it back; one that nobody gives back is the collector's.
 */
export class LentPieces {
  readonly #rooms = rooms();
  readonly #lent = new WeakMap<ArrayBufferLike, Rooms>();

  /** Bytes of rooms that lie ready. */
  get readyBytes(): number {
    return this.#rooms.reduce((sum, { bytes, ready }) => sum + bytes * ready.length, 0);
  }

  /** A copy of these bytes, which is its reader's until that gives it back. */
  copyOf(bytes: Buffer, start: number, end: number): Buffer {
    const length = end - start;
    const piece = this.#roomFor(length) ?? Buffer.allocUnsafe(length);
    bytes.copy(piece, 0, start, end);
    return piece.length === length ? piece : piece.subarray(0, length);
  }

  /** Nobody looks at a piece, or at a part of one, any more. Of memory that was not lent here nothing becomes. */
  giveBack({ buffer }: Buffer): void {
    const rooms = this.#lent.get(buffer);
    if (rooms === undefined) return;
    this.#lent.delete(buffer);
    if (rooms.ready.length < rooms.readyMax) rooms.ready.push(Buffer.from(buffer, 0, rooms.bytes));
  }

  #roomFor(length: number): Buffer | null {
    if (length < LENT_FROM_BYTES) return null;
    const rooms = this.#rooms.find(({ bytes }) => length <= bytes);
    if (rooms === undefined) return null;
    const room = rooms.ready.pop() ?? Buffer.allocUnsafeSlow(rooms.bytes);
    this.#lent.set(room.buffer, rooms);
    return room;
  }
}

/** Those of the process. */
export const lentPieces = new LentPieces();
