import { randomInt } from 'node:crypto';

/** Our own request ids start anywhere below this and count up: an answer to somebody else's is told apart. */
const FIRST_ID_MAX = 2 ** 40;

let lastId = randomInt(FIRST_ID_MAX);

/** An id that no other request of this process has. A safe integer. */
export const nextRequestId = (): number => ++lastId;

const NONE = Buffer.alloc(0);
/** The closing brace. */
const CLOSE = 0x7d;

/** The JSON-RPC request up to the params; all of it when there are none. */
const openingOf = (id: number, method: string, params: Buffer | null): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${params === null ? '}' : ',"params":'}`;

/** Written into place: joining buffers would make several more of them for every request. */
function written(head: Buffer, text: string, textBytes: number, params: Buffer | null): Buffer {
  const paramsAt = head.length + textBytes;
  const bytes = Buffer.allocUnsafe(params === null ? paramsAt : paramsAt + params.length + 1);
  bytes.set(head);
  bytes.write(text, head.length);
  if (params === null) return bytes;
  bytes.set(params, paramsAt);
  bytes[bytes.length - 1] = CLOSE;
  return bytes;
}

/**
 * The JSON-RPC request that goes to a node: our id, the method, the caller's params byte for byte.
 * @param params - raw JSON text; null leaves the member out.
 */
export function requestBody(id: number, method: string, params: Buffer | null): Buffer {
  const opening = openingOf(id, method, params);
  return written(NONE, opening, Buffer.byteLength(opening), params);
}

/**
 * The same with the HTTP that it goes in.
 * @param head - ends where the number of bytes of the body belongs.
 */
export function requestBytes(head: Buffer, id: number, method: string, params: Buffer | null): Buffer {
  const opening = openingOf(id, method, params);
  const openingBytes = Buffer.byteLength(opening);
  const length = `${params === null ? openingBytes : openingBytes + params.length + 1}\r\n\r\n`;
  return written(head, length + opening, length.length + openingBytes, params);
}
