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
  return Buffer.concat([Buffer.from(`${head},"params":`), params, CLOSE]);
}

const CLOSE = Buffer.from('}');
