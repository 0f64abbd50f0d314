import { randomInt } from 'node:crypto';
import { DIGITS_NUMBER_MAX, digitCount, writeDigits } from '../base/text/digits.ts';
import { copyTo } from '../base/text/short-bytes.ts';
import { methods } from '../protocol/methods.ts';

/** The id behind another: whole numbers of up to 31 bits, from 1 on and round. */
export const idAfter = (id: number): number => (id === DIGITS_NUMBER_MAX ? 1 : id + 1);

let lastId = randomInt(DIGITS_NUMBER_MAX);

/**
 * An id that no other request has which is under way. They begin anywhere and count up, so that an answer to somebody
 * else's is told apart.
 */
export function nextRequestId(): number {
  lastId = idAfter(lastId);
  return lastId;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const BEFORE_ID = Buffer.from('{"jsonrpc":"2.0","id":');
/** The closing brace. */
const CLOSE = 0x7d;

/** What stands between the id and the params, or behind the id when there are none. */
type BodySuffix = Readonly<{ withParams: Buffer; withoutParams: Buffer }>;

function suffixOf(method: string): BodySuffix {
  const member = `,"method":${JSON.stringify(method)}`;
  return { withParams: Buffer.from(`${member},"params":`), withoutParams: Buffer.from(`${member}}`) };
}

/** Of the methods of the table, which are nearly all that is asked. */
const knownSuffixes: ReadonlyMap<string, BodySuffix> = new Map(
  Object.keys(methods).map((name) => [name, suffixOf(name)]),
);

/** What stands behind the id. */
function suffixFor(method: string, params: Buffer | null): Buffer {
  const suffix = knownSuffixes.get(method) ?? suffixOf(method);
  return params === null ? suffix.withoutParams : suffix.withParams;
}

const bodyLength = (id: number, suffix: Buffer, params: Buffer | null): number =>
  BEFORE_ID.length + digitCount(id) + suffix.length + (params === null ? 0 : params.length + 1);

/** Written into place, up to the end: joining buffers, or making a text of it, would make several more for every request. */
function writeBody(bytes: Buffer, start: number, id: number, suffix: Buffer, params: Buffer | null): void {
  const idAt = copyTo(bytes, start, BEFORE_ID);
  const suffixAt = writeDigits(bytes, idAt, id, digitCount(id));
  const paramsAt = copyTo(bytes, suffixAt, suffix);
  if (params === null) return;
  bytes.set(params, paramsAt);
  bytes[bytes.length - 1] = CLOSE;
}

/**
 * The JSON-RPC request that goes to a node: our id, the method, the caller's params byte for byte.
 * @param id - as `nextRequestId` gives them.
 * @param params - raw JSON text; null leaves the member out.
 */
export function requestBody(id: number, method: string, params: Buffer | null): Buffer {
  const suffix = suffixFor(method, params);
  const bytes = Buffer.allocUnsafe(bodyLength(id, suffix, params));
  writeBody(bytes, 0, id, suffix, params);
  return bytes;
}

/**
 * The same with the HTTP that it goes in.
 * @param head - ends where the number of bytes of the body belongs.
 */
export function requestBytes(head: Buffer, id: number, method: string, params: Buffer | null): Buffer {
  const suffix = suffixFor(method, params);
  const length = bodyLength(id, suffix, params);
  const digits = digitCount(length);
  const bytes = Buffer.allocUnsafe(head.length + digits + HEAD_END.length + length);
  const lengthAt = copyTo(bytes, 0, head);
  const bodyAt = copyTo(bytes, writeDigits(bytes, lengthAt, length, digits), HEAD_END);
  writeBody(bytes, bodyAt, id, suffix, params);
  return bytes;
}
