import type { Socket } from 'node:net';
import { lentPieces } from '../../http1/lent-pieces.ts';
import { resultBegin, resultEnd } from '../../protocol/envelope-answer.ts';
import type { LongAnswer, LongReader } from '../../protocol/long-answer.ts';

const LINE = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

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
  readonly #drained = (): void => this.#answer.resume();

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
    if (!this.#write(bytes)) this.#answer.pause();
  }

  ended(): void {
    this.#socket.off('drain', this.#drained);
    this.#write(this.#end);
    if (this.#answer.bytes === null) this.#socket.write(LAST_CHUNK);
    this.#done();
  }

  failed(): void {
    this.#socket.destroy();
  }

  #write(bytes: Buffer): boolean {
    const socket = this.#socket;
    // What broke off may still be looked at.
    const taken = (error?: Error | null): void => {
      if (error == null) lentPieces.giveBack(bytes);
    };
    if (this.#answer.bytes !== null) return socket.write(bytes, taken);
    socket.cork();
    socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
    socket.write(bytes, taken);
    const goesOn = socket.write(LINE);
    socket.uncork();
    return goesOn;
  }
}
