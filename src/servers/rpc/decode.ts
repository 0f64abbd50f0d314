import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure } from '../../protocol/errors.ts';

const BEARER = /^bearer +([^\s]+) *$/i;
const JSON_TYPE = /^application\/json *(?:;|$)/i;
const KEY_PARAMETER = 'api-key';

/**
 * The API key of a request: that of `Authorization: Bearer` (the scheme in any case), else that of the query
 * parameter `api-key`; the header wins. null when there is neither.
 */
export function credentialOf(request: IncomingMessage, query: string): string | null {
  const header = request.headers.authorization;
  const bearer = header === undefined ? null : BEARER.exec(header);
  if (bearer !== null) return bearer[1] as string;
  return query.includes(KEY_PARAMETER) ? new URLSearchParams(query).get(KEY_PARAMETER) : null;
}

/** Whether the body says it is JSON, with whatever parameters. */
export const isJsonType = (contentType: string | undefined): boolean =>
  contentType === 'application/json' || (contentType !== undefined && JSON_TYPE.test(contentType));

/**
 * The whole body of a request.
 * @returns null when the client went away before it was whole.
 * @throws Failure BODY_TOO_LARGE as soon as that is known: from the header alone, or at the first chunk beyond.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  bodyMaxBytes: number,
): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > bodyMaxBytes) throw tooLarge(bodyMaxBytes);
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= bodyMaxBytes) {
        chunks.push(chunk);
        return;
      }
      request.off('data', take);
      request.pause();
      reject(tooLarge(bodyMaxBytes));
    };
    request.on('data', take);
    request.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.once('close', () => resolve(null));
    request.once('error', () => resolve(null));
  });
}

const tooLarge = (bodyMaxBytes: number): Failure =>
  new Failure('BODY_TOO_LARGE', { facts: { bodyMaxBytes } });
