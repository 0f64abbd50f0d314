import { randomInt } from 'node:crypto';

/** Our own request ids start anywhere below this and count up: an answer to somebody else's is told apart. */
const FIRST_ID_MAX = 2 ** 40;

let lastId = randomInt(FIRST_ID_MAX);

/** An id that no other request of this process has. A safe integer. */
export const nextRequestId = (): number => ++lastId;

/**
 * The JSON-RPC request that goes to a node: our id, the method, the caller's params byte for byte.
 * @param params - raw JSON text; null leaves the member out.
 */
export function requestBody(id: number, method: string, params: Buffer | null): Buffer {
  const head = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
  if (params === null) return Buffer.from(`${head}}`);
  const open = `${head},"params":`;
  const openBytes = Buffer.byteLength(open);
  // Written into place: joining buffers would make two more of them for every request.
  const body = Buffer.allocUnsafe(openBytes + params.length + 1);
  body.write(open);
  body.set(params, openBytes);
  body[body.length - 1] = CLOSE;
  return body;
}

/** The closing brace. */
const CLOSE = 0x7d;
