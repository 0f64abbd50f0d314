import type { IncomingMessage } from 'node:http';

/**
 * A request's whole body; 'too-large' as soon as it passes the limit (the rest is not kept), 'aborted' when
 * the client went away first.
 */
export async function readBody(
  request: IncomingMessage,
  bodyMaxBytes: number,
): Promise<Buffer | 'too-large' | 'aborted'> {
  if (Number(request.headers['content-length'] ?? 0) > bodyMaxBytes) return 'too-large';
  const { promise, resolve } = Promise.withResolvers<Buffer | 'too-large' | 'aborted'>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= bodyMaxBytes) chunks.push(chunk);
    else {
      chunks.length = 0;
      resolve('too-large');
    }
  });
  request.on('end', () => resolve(Buffer.concat(chunks)));
  request.on('error', () => resolve('aborted'));
  request.on('close', () => resolve('aborted'));
  return promise;
}
