import { ApiError } from '../api-error.ts';

const JSON_TYPE = /^application\/json *(?:;|$)/i;
/** No column of the store could hold it. */
const NUL = /\\u0000|\0/;

/** How large a body may be, and how long it may take to arrive, in milliseconds. */
export type BodyBounds = Readonly<{ maxBytes: number; timeoutMs: number }>;

/** The whole body. @throws ApiError 413 as soon as it is too long, 408 when it does not arrive in time. */
export async function readBytes(request: Request, { maxBytes, timeoutMs }: BodyBounds): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return new Uint8Array(0);
  const reader = request.body.getReader();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([readAll(reader, maxBytes), late]);
  } catch (thrown) {
    if (thrown instanceof ApiError) reader.cancel().catch(() => undefined);
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number) {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
    bytes += value.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    pieces.push(value);
  }
}

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError(413, 'BODY_TOO_LARGE', `the body may have ${maxBytes} bytes at most: send less at a time`);

const tooSlow = (timeoutMs: number): ApiError =>
  new ApiError(
    408,
    'BODY_TOO_SLOW',
    `the body did not arrive within ${timeoutMs} ms: send it again, on a connection of its own`,
  );

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
    const printable = name.slice(0, 64);
    const fault = fields.has(name) ? 'is given twice' : NUL.test(value) ? 'holds what no text has' : null;
    if (fault !== null)
      throw new ApiError(422, 'INVALID_FIELDS', `${printable} ${fault}`, { fields: { [printable]: fault } });
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
