import { randomInt } from 'node:crypto';
import { DIGITS_NUMBER_MAX, digitCount, writeDigits } from '../base/digits.ts';
import { methods } from '../protocol/methods.ts';

let lastId = randomInt(DIGITS_NUMBER_MAX);

/**
 * An id that no other request has which is under way: a whole number of up to 31 bits. They begin anywhere and count up,
 * so that an answer to somebody else's is told apart.
 */
export function nextRequestId(): number {
  lastId = lastId === DIGITS_NUMBER_MAX ? 1 : lastId + 1;
  return lastId;
}

const NONE = Buffer.alloc(0);
const HEAD_END = Buffer.from('\r\n\r\n');
const BEFORE_ID = Buffer.from('{"jsonrpc":"2.0","id":');
/** The closing brace. */
const CLOSE = 0x7d;

/** What stands between the id and the params, or behind the id when there are none. */
type Rest = Readonly<{ withParams: Buffer; alone: Buffer }>;

function restOf(method: string): Rest {
  const member = `,"method":${JSON.stringify(method)}`;
  return { withParams: Buffer.from(`${member},"params":`), alone: Buffer.from(`${member}}`) };
}

/** Of the methods of the table, which are nearly all that is asked. */
const rests: ReadonlyMap<string, Rest> = new Map(Object.keys(methods).map((name) => [name, restOf(name)]));

/** A loop, because a native copy of so few bytes costs more. */
function writeShort(bytes: Buffer, start: number, piece: Buffer): number {
  for (let i = 0; i < piece.length; i++) bytes[start + i] = piece[i] as number;
  return start + piece.length;
}

/** Written into place: joining buffers, or making a text of it, would make several more for every request. */
function writeBody(bytes: Buffer, start: number, id: number, rest: Buffer, params: Buffer | null): void {
  const idAt = writeShort(bytes, start, BEFORE_ID);
  const restAt = writeDigits(bytes, idAt, id, digitCount(id));
  bytes.set(rest, restAt);
  if (params === null) return;
  bytes.set(params, restAt + rest.length);
  bytes[bytes.length - 1] = CLOSE;
}

/** Room for head and body, with the body in its end. @param head - ends where the number of bytes of the body belongs. */
function written(head: Buffer, id: number, method: string, params: Buffer | null): Buffer {
  const { withParams, alone } = rests.get(method) ?? restOf(method);
  const rest = params === null ? alone : withParams;
  const paramsBytes = params === null ? 0 : params.length + 1;
  const bodyBytes = BEFORE_ID.length + digitCount(id) + rest.length + paramsBytes;
  const headBytes = head === NONE ? 0 : head.length + digitCount(bodyBytes) + HEAD_END.length;
  const bytes = Buffer.allocUnsafe(headBytes + bodyBytes);
  if (head !== NONE) {
    bytes.set(head);
    writeShort(bytes, writeDigits(bytes, head.length, bodyBytes, digitCount(bodyBytes)), HEAD_END);
  }
  writeBody(bytes, headBytes, id, rest, params);
  return bytes;
}

/**
 * The JSON-RPC request that goes to a node: our id, the method, the caller's params byte for byte.
 * @param id - as `nextRequestId` gives them.
 * @param params - raw JSON text; null leaves the member out.
 */
export const requestBody = (id: number, method: string, params: Buffer | null): Buffer =>
  written(NONE, id, method, params);

/**
 * The same with the HTTP that it goes in.
 * @param head - ends where the number of bytes of the body belongs.
 */
export const requestBytes = (head: Buffer, id: number, method: string, params: Buffer | null): Buffer =>
  written(head, id, method, params);
