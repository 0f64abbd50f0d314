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

/** Bytes of bodies that are held at a time, by all requests together. */
export class BodyBudget {
  readonly #heldMaxBytes: number;
  #heldBytes = 0;

  constructor(heldMaxBytes: number) {
    this.#heldMaxBytes = heldMaxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Takes room for so many bytes if there is any. */
  take(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.#heldMaxBytes) return false;
    this.#heldBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}

/**
 * The whole body of a request. Its bytes count against the budget until the response is closed.
 * @returns null when the client went away before it was whole.
 * @throws Failure BODY_TOO_LARGE as soon as that is known: from the header alone, or at the first chunk beyond;
 * OVERLOADED when the budget is spent.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  bodyMaxBytes: number,
  budget: BodyBudget,
): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > bodyMaxBytes) throw tooLarge(bodyMaxBytes);
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer): void => {
      const fits = bytes + chunk.length <= bodyMaxBytes;
      if (fits && budget.take(chunk.length)) {
        bytes += chunk.length;
        chunks.push(chunk);
        return;
      }
      request.off('data', take);
      request.pause();
      reject(fits ? new Failure('OVERLOADED') : tooLarge(bodyMaxBytes));
    };
    request.on('data', take);
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    // After an answer this says nothing new; before one, that the client went away.
    response.on('close', () => {
      budget.giveBack(bytes);
      resolve(null);
    });
  });
}

const tooLarge = (bodyMaxBytes: number): Failure =>
  new Failure('BODY_TOO_LARGE', { facts: { bodyMaxBytes } });
