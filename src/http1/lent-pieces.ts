/** As much as is read from a connection to a node at a time: so much that how often counts little for answers of 1 MiB. */
export const READ_MAX_BYTES = 256 * 1024;
/** Shorter pieces have memory of their own: a room would mostly be empty. */
export const LENT_FROM_BYTES = 16 * 1024;

/** Free memory in front of each room, for what was held back of the piece before. */
const FRONT_BYTES = 64;

/** Rooms of one size that lie ready, for all connections together. */
type Rooms = Readonly<{ bytes: number; readyMax: number; ready: ArrayBufferLike[] }>;

/** By size; 20 MiB in all. */
const rooms = (): readonly Rooms[] => [
  { bytes: 64 * 1024, readyMax: 64, ready: [] },
  { bytes: READ_MAX_BYTES, readyMax: 64, ready: [] },
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

  /** Memory to read a piece into, as much as is read at a time. */
  room(): Buffer {
    return this.#lend(this.#rooms[this.#rooms.length - 1] as Rooms);
  }

  /** Whether a piece stands in memory that was lent here. */
  isLent({ buffer }: Buffer): boolean {
    return this.#lent.has(buffer);
  }

  /** A copy of these bytes, which is its reader's until that gives it back. */
  copyOf(bytes: Buffer, start: number, end: number): Buffer {
    const length = end - start;
    const rooms = length < LENT_FROM_BYTES ? undefined : this.#rooms.find((each) => length <= each.bytes);
    const piece = rooms === undefined ? Buffer.allocUnsafe(length) : this.#lend(rooms);
    bytes.copy(piece, 0, start, end);
    return piece.length === length ? piece : piece.subarray(0, length);
  }

  /** A piece behind what was held back of the one before: in its own memory, where there is room for that. Takes both. */
  behind(held: Buffer, piece: Buffer): Buffer {
    const { length } = held;
    if (length === 0) return piece;
    if (length > FRONT_BYTES || piece.byteOffset !== FRONT_BYTES || !this.isLent(piece)) {
      const joined = Buffer.concat([held, piece]);
      this.giveBack(held);
      this.giveBack(piece);
      return joined;
    }
    const whole = Buffer.from(piece.buffer, FRONT_BYTES - length, length + piece.length);
    held.copy(whole);
    return whole;
  }

  /** Nobody looks at a piece, or at a part of one, any more. Of memory that was not lent here nothing becomes. */
  giveBack({ buffer }: Buffer): void {
    const rooms = this.#lent.get(buffer);
    if (rooms === undefined) return;
    this.#lent.delete(buffer);
    if (rooms.ready.length < rooms.readyMax) rooms.ready.push(buffer);
  }

  #lend(rooms: Rooms): Buffer {
    const memory = rooms.ready.pop() ?? Buffer.allocUnsafeSlow(FRONT_BYTES + rooms.bytes).buffer;
    this.#lent.set(memory, rooms);
    return Buffer.from(memory, FRONT_BYTES, rooms.bytes);
  }
}

/** Those of the process. */
export const lentPieces = new LentPieces();
