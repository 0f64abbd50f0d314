import type { ServerResponse } from 'node:http';
import { bufferPool } from '../../http/buffer-pool.ts';
import { resultPrefix, resultSuffix } from '../../protocol/response-envelope.ts';
import type { ResponseReader, StreamedResponse } from '../../protocol/streamed-response.ts';
import type { HeaderList } from './encode.ts';

/**
 * Writes a streamed result to a node:http response with backpressure. An error closes the connection, which the client
 * detects by the missing bytes or last chunk.
 */
export class ResponseStreamWriter implements ResponseReader {
  readonly #source: StreamedResponse;
  readonly #response: ServerResponse;
  readonly #suffix: Buffer;

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
    // Harmless after the end.
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
      // After a failed write the system may still read the buffer.
      if (error == null) bufferPool.release(bytes);
    });
  }
}
