import type { Socket } from 'node:net';
import { lentPieces } from '../../http1/lent-pieces.ts';
import { resultBegin, resultEnd } from '../../protocol/envelope-answer.ts';
import type { LongAnswer, LongReader } from '../../protocol/long-answer.ts';

const LINE = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/** Bytes of the body that holds a long result; null when only its end will tell. */
export const longBodyBytes = ({ bytes }: LongAnswer, id: Buffer): number | null =>
  bytes === null ? null : resultBegin().length + bytes + resultEnd(id).length;

/**
 * Writes a long result behind a head that was written, no faster than its caller takes it: in chunks when its length is not
 * known. When it breaks off so does the connection.
 */
export class RawLongReply implements LongReader {
  readonly #answer: LongAnswer;
  readonly #socket: Socket;
  readonly #end: Buffer;
  readonly #done: () => void;
  /** Pieces that the system has not taken yet. */
  readonly #leaving: Buffer[] = [];
  readonly #drained = (): void => {
    if (this.#socket.writableLength === 0) this.#giveBack();
    this.#answer.resume();
  };

  /** @param done - told when all of it was written. */
  constructor(answer: LongAnswer, socket: Socket, id: Buffer, done: () => void) {
    this.#answer = answer;
    this.#socket = socket;
    this.#end = resultEnd(id);
    this.#done = done;
  }

  begin(): void {
    this.#write(resultBegin());
    this.#socket.on('drain', this.#drained);
    this.#answer.readInto(this);
  }

  piece(bytes: Buffer): void {
    const goesOn = this.#write(bytes);
    this.#leaving.push(bytes);
    // Mostly the system takes all at once, whatever `write` said before it did.
    if (this.#socket.writableLength === 0) this.#giveBack();
    else if (!goesOn) this.#answer.pause();
  }

  ended(last: Buffer): void {
    const socket = this.#socket;
    socket.off('drain', this.#drained);
    this.#leaving.push(last);
    socket.cork();
    this.#write(last);
    this.#write(this.#end);
    const isChunked = this.#answer.bytes === null;
    socket.write(isChunked ? LAST_CHUNK : NOTHING, (error) => {
      // What broke off may still be looked at.
      if (error == null) this.#giveBack();
    });
    socket.uncork();
    this.#done();
  }

  failed(): void {
    this.#socket.destroy();
  }

  #giveBack(): void {
    for (const piece of this.#leaving) lentPieces.giveBack(piece);
    this.#leaving.length = 0;
  }

  #write(bytes: Buffer): boolean {
    const socket = this.#socket;
    if (this.#answer.bytes !== null) return socket.write(bytes);
    socket.cork();
    socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
    socket.write(bytes);
    const goesOn = socket.write(LINE);
    socket.uncork();
    return goesOn;
  }
}
