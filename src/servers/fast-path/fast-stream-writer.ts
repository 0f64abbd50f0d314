import type { Socket } from 'node:net';
import { bufferPool } from '../../http/buffer-pool.ts';
import { resultPrefix, resultSuffix } from '../../protocol/response-envelope.ts';
import type { ResponseReader, StreamedResponse } from '../../protocol/streamed-response.ts';

const LINE = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/** Bytes of the body that holds a long result; null when only its end will tell. */
export const streamBodyBytes = ({ bytes }: StreamedResponse, id: Buffer): number | null =>
  bytes === null ? null : resultPrefix().length + bytes + resultSuffix(id).length;

/**
 * Writes a long result behind a head that was written, no faster than its caller takes it: in chunks when its length is not
 * known. When it breaks off so does the connection.
 */
export class FastStreamWriter implements ResponseReader {
  readonly #source: StreamedResponse;
  readonly #socket: Socket;
  readonly #suffix: Buffer;
  readonly #onDone: () => void;
  /** Pieces that the system has not taken yet. */
  readonly #unreleased: Buffer[] = [];
  readonly #onDrain = (): void => {
    if (this.#socket.writableLength === 0) this.#releaseWritten();
    this.#source.resume();
  };

  /** @param done - told when all of it was written. */
  constructor(source: StreamedResponse, socket: Socket, id: Buffer, onDone: () => void) {
    this.#source = source;
    this.#socket = socket;
    this.#suffix = resultSuffix(id);
    this.#onDone = onDone;
  }

  start(): void {
    this.#write(resultPrefix());
    this.#socket.on('drain', this.#onDrain);
    this.#source.pipeTo(this);
  }

  onData(bytes: Buffer): void {
    const canContinue = this.#write(bytes);
    this.#unreleased.push(bytes);
    // Mostly the system takes all at once, whatever `write` said before it did.
    if (this.#socket.writableLength === 0) this.#releaseWritten();
    else if (!canContinue) this.#source.pause();
  }

  onEnd(last: Buffer): void {
    const socket = this.#socket;
    socket.off('drain', this.#onDrain);
    this.#unreleased.push(last);
    socket.cork();
    this.#write(last);
    this.#write(this.#suffix);
    const isChunked = this.#source.bytes === null;
    socket.write(isChunked ? LAST_CHUNK : NOTHING, (error) => {
      // What broke off may still be looked at.
      if (error == null) this.#releaseWritten();
    });
    socket.uncork();
    this.#onDone();
  }

  onError(): void {
    this.#socket.destroy();
  }

  #releaseWritten(): void {
    for (const piece of this.#unreleased) bufferPool.release(piece);
    this.#unreleased.length = 0;
  }

  #write(bytes: Buffer): boolean {
    const socket = this.#socket;
    if (this.#source.bytes !== null) return socket.write(bytes);
    socket.cork();
    socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
    socket.write(bytes);
    const canContinue = socket.write(LINE);
    socket.uncork();
    return canContinue;
  }
}
