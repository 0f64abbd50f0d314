import { randomInt } from 'node:crypto';
import { copyTo, DIGITS_NUMBER_MAX, digitCount, writeDigits } from '../base/text/short-bytes.ts';
import { methods } from '../protocol/methods.ts';

export const idAfter = (id: number): number => (id === DIGITS_NUMBER_MAX ? 1 : id + 1);

let lastId = randomInt(DIGITS_NUMBER_MAX);

/** Unique among requests in flight. Starts at a random number, to detect responses meant for another process. */
export function nextRequestId(): number {
  lastId = idAfter(lastId);
  return lastId;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const BEFORE_ID = Buffer.from('{"jsonrpc":"2.0","id":');
/** "}" */
const CLOSE = 0x7d;

type BodySuffix = Readonly<{ withParams: Buffer; withoutParams: Buffer }>;

function suffixOf(method: string): BodySuffix {
  const member = `,"method":${JSON.stringify(method)}`;
  return { withParams: Buffer.from(`${member},"params":`), withoutParams: Buffer.from(`${member}}`) };
}

const knownSuffixes: ReadonlyMap<string, BodySuffix> = new Map(
  Object.keys(methods).map((name) => [name, suffixOf(name)]),
);

/** Writes in place, since concatenation would allocate several buffers or strings per request. */
function writeBody(bytes: Buffer, start: number, id: number, suffix: Buffer, params: Buffer | null): void {
  const idAt = copyTo(bytes, start, BEFORE_ID);
  const suffixAt = writeDigits(bytes, idAt, id, digitCount(id));
  const paramsAt = copyTo(bytes, suffixAt, suffix);
  if (params === null) return;
  bytes.set(params, paramsAt);
  bytes[bytes.length - 1] = CLOSE;
}

/** JSON-RPC request. @param params - raw JSON, which is copied; null omits the member. */
export function requestBody(id: number, method: string, params: Buffer | null): Buffer {
  const request = requestBytes(Buffer.alloc(0), id, method, params);
  return request.subarray(request.indexOf(HEAD_END) + HEAD_END.length);
}

/** HTTP request. @param head - everything before the value of the content length. */
export function requestBytes(head: Buffer, id: number, method: string, params: Buffer | null): Buffer {
  const suffixes = knownSuffixes.get(method) ?? suffixOf(method);
  const suffix = params === null ? suffixes.withoutParams : suffixes.withParams;
  const paramsBytes = params === null ? 0 : params.length + 1;
  const length = BEFORE_ID.length + digitCount(id) + suffix.length + paramsBytes;
  const digits = digitCount(length);
  const bytes = Buffer.allocUnsafe(head.length + digits + HEAD_END.length + length);
  const lengthAt = copyTo(bytes, 0, head);
  const bodyAt = copyTo(bytes, writeDigits(bytes, lengthAt, length, digits), HEAD_END);
  writeBody(bytes, bodyAt, id, suffix, params);
  return bytes;
}
