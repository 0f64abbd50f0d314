import type { ServerResponse } from 'node:http';
import { lentPieces } from '../../http1/lent-pieces.ts';
import { resultBegin, resultEnd } from '../../protocol/envelope-answer.ts';
import type { LongAnswer, LongReader } from '../../protocol/long-answer.ts';
import type { HeaderList } from './encode.ts';

/**
 * Writes a long result into the answer to its caller while it comes, no faster than they take it. When it breaks off so does
 * the connection: whoever is told a length, or waits for the last chunk, sees that it is not whole.
 */
export class LongReply implements LongReader {
  readonly #answer: LongAnswer;
  readonly #response: ServerResponse;
  readonly #end: Buffer;

  /** @param id - of the caller's request. */
  constructor(answer: LongAnswer, response: ServerResponse, id: Buffer) {
    this.#answer = answer;
    this.#response = response;
    this.#end = resultEnd(id);
  }

  begin(headers: HeaderList): void {
    const response = this.#response;
    const begin = resultBegin();
    const { bytes } = this.#answer;
    if (bytes !== null) headers.push('content-length', String(begin.length + bytes + this.#end.length));
    response.writeHead(200, headers);
    response.write(begin);
    response.on('drain', () => this.#answer.resume());
    // Told after the end as well, where it does no harm.
    response.on('close', () => this.#answer.leave());
    this.#answer.readInto(this);
  }

  piece(bytes: Buffer): void {
    if (!this.#write(bytes)) this.#answer.pause();
  }

  ended(last: Buffer): void {
    this.#write(last);
    this.#response.end(this.#end);
  }

  failed(): void {
    this.#response.destroy();
  }

  #write(bytes: Buffer): boolean {
    return this.#response.write(bytes, (error) => {
      // What broke off may still be looked at.
      if (error == null) lentPieces.giveBack(bytes);
    });
  }
}
