import { ApiError } from '../api-error.ts';

const JSON_TYPE = /^application\/json *(?:;|$)/i;
/** No column of the store could hold it. */
const NUL = /\\u0000|\0/;

/** The whole body. @throws ApiError 413 as soon as it is too long. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): ApiError =>
    new ApiError(413, 'BODY_TOO_LARGE', `the body may have ${maxBytes} bytes at most: send less at a time`);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge();
  if (request.body === null) return new Uint8Array(0);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request.body) {
    bytes += piece.length;
    if (bytes > maxBytes) throw tooLarge();
    pieces.push(piece);
  }
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
}

/** @throws ApiError 415, 422 */
export function readJson(request: Request, bytes: Uint8Array): unknown {
  if (!JSON_TYPE.test(request.headers.get('content-type') ?? ''))
    throw new ApiError(
      415,
      'NOT_JSON',
      'send the body as JSON, with the header: content-type: application/json',
    );
  const text = textOf(bytes);
  if (text === null || NUL.test(text)) throw notJson();
  try {
    return JSON.parse(text);
  } catch {
    throw notJson();
  }
}

const notJson = (): ApiError => new ApiError(422, 'NOT_JSON', 'the body is not JSON text in UTF-8: mend it');

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Fields of a query, each given once. @throws ApiError 422 */
export function readQuery(url: string): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URL(url).searchParams) {
    const shown = name.slice(0, 64);
    const fault = fields.has(name) ? 'is given twice' : NUL.test(value) ? 'holds what no text has' : null;
    if (fault !== null)
      throw new ApiError(422, 'INVALID_FIELDS', `${shown} ${fault}`, { fields: { [shown]: fault } });
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
