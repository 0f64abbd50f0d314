import type { ServerResponse } from 'node:http';
import { bufferPool } from '../../http/buffer-pool.ts';
import { resultPrefix, resultSuffix } from '../../protocol/response-envelope.ts';
import type { ResponseReader, StreamedResponse } from '../../protocol/streamed-response.ts';
import type { HeaderList } from './encode.ts';

/**
 * Writes a long result into the answer to its caller while it comes, no faster than they take it. When it breaks off so does
 * the connection: whoever is told a length, or waits for the last chunk, sees that it is not whole.
 */
export class ResponseStreamWriter implements ResponseReader {
  readonly #source: StreamedResponse;
  readonly #response: ServerResponse;
  readonly #suffix: Buffer;

  /** @param id - of the caller's request. */
  constructor(source: StreamedResponse, response: ServerResponse, id: Buffer) {
    this.#source = source;
    this.#response = response;
    this.#suffix = resultSuffix(id);
  }

  start(headers: HeaderList): void {
    const response = this.#response;
    const prefix = resultPrefix();
    const { bytes } = this.#source;
    if (bytes !== null) headers.push('content-length', String(prefix.length + bytes + this.#suffix.length));
    response.writeHead(200, headers);
    response.write(prefix);
    response.on('drain', () => this.#source.resume());
    // Told after the end as well, where it does no harm.
    response.on('close', () => this.#source.cancel());
    this.#source.pipeTo(this);
  }

  onData(bytes: Buffer): void {
    if (!this.#write(bytes)) this.#source.pause();
  }

  onEnd(last: Buffer): void {
    this.#write(last);
    this.#response.end(this.#suffix);
  }

  onError(): void {
    this.#response.destroy();
  }

  #write(bytes: Buffer): boolean {
    return this.#response.write(bytes, (error) => {
      // What broke off may still be looked at.
      if (error == null) bufferPool.release(bytes);
    });
  }
}
