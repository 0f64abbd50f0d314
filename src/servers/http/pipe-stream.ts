import type { ServerResponse } from 'node:http';
import { bufferPool } from '../../http/buffer-pool.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';

/**
 * Writes a streamed body after its head. An error closes the connection, so that the client sees that the body is
 * incomplete.
 */
export function pipeStream(source: StreamedResponse, response: ServerResponse, suffix?: Buffer): void {
  const write = (piece: Buffer): boolean =>
    response.write(piece, (error) => {
      // After a failed write, the kernel may still read the buffer.
      if (error == null) bufferPool.release(piece);
    });
  response.on('drain', () => source.resume());
  response.on('close', () => source.cancel());
  source.pipeTo({
    onData(piece) {
      if (!write(piece)) source.pause();
    },
    onEnd(last) {
      write(last);
      response.end(suffix);
    },
    onError: () => void response.destroy(),
  });
}
