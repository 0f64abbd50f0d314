import { isUtf8 } from 'node:buffer';
import { decodeString, kindOf, MALFORMED, scanArray, scanObject, skipSpace } from '../base/json-scan.ts';
import { byLength } from '../base/text/short-bytes.ts';
import { Failure, type FailureCode } from './errors.ts';
import { methodRow, methods, unknownMethod } from './methods.ts';
import { NULL_ID } from './response-envelope.ts';

/**
 * Decodes the JSON-RPC 2.0 request envelope in place: ids and params are views into the body. Follows the rules of
 * Agave's server (jsonrpc-core 18), reference solana-json-rpc.md §2.3:
 * - `id` is null, an unsigned 64-bit integer or a string; any other id invalidates the whole body (-32700).
 * - A call without `id` is a notification: it is not executed and gets no response.
 * - Without `jsonrpc`, the response is -32600 "Unsupported JSON-RPC protocol version" and omits `jsonrpc` as well.
 * - Any other invalid object, such as one with unknown or duplicate members, is -32600 "Invalid request".
 * - A duplicate id, or a batch member that is not an object, invalidates the whole body (-32700).
 */

export type EnvelopeLimits = Readonly<{
  batchMax: number;
  /** Size of the id as written, including quotes. */
  idMaxBytes: number;
  /** Nesting depth, counting the body itself; Agave's limit. */
  depthMax: number;
}>;

export const envelopeLimits: EnvelopeLimits = { batchMax: 100, idMaxBytes: 1024, depthMax: 127 };

export type EnvelopeItem =
  | Readonly<{
      kind: 'call';
      id: Buffer;
      method: string;
      /** Raw JSON, a view into the body; null if absent or null. */
      params: Buffer | null;
      bytes: number;
    }>
  | Readonly<{ kind: 'notification'; bytes: number }>
  | Readonly<{ kind: 'fault'; id: Buffer; code: FailureCode; bytes: number }>;

export type Envelope = Readonly<{ batch: boolean; items: readonly EnvelopeItem[]; bytes: number }>;

const [ID, JSONRPC, METHOD, PARAMS] = ['id', 'jsonrpc', 'method', 'params'].map((name) =>
  Buffer.from(name),
) as [Buffer, Buffer, Buffer, Buffer];
/** Length of the longest member name if every character is escaped. */
const NAME_MAX_BYTES = 'jsonrpc'.length * '\\u0000'.length;
const VERSION = Buffer.from('"2.0"');
const U64_MAX = '18446744073709551615';
const ARRAY_OPEN = 0x5b;

/** Reused for all calls in a body. */
class DecodeState {
  readonly body: Buffer;
  readonly limits: EnvelopeLimits;
  readonly items: EnvelopeItem[] = [];
  idStart = MALFORMED;
  idEnd = MALFORMED;
  versionStart = MALFORMED;
  versionEnd = MALFORMED;
  methodStart = MALFORMED;
  methodEnd = MALFORMED;
  paramsStart = MALFORMED;
  paramsEnd = MALFORMED;
  hasUnexpectedMember = false;

  constructor(body: Buffer, limits: EnvelopeLimits) {
    this.body = body;
    this.limits = limits;
  }

  clear(): void {
    this.idStart = MALFORMED;
    this.versionStart = MALFORMED;
    this.methodStart = MALFORMED;
    this.paramsStart = MALFORMED;
    this.hasUnexpectedMember = false;
  }
}

/** Compares in a loop: for so few bytes, a native call takes ten times as long. */
function bytesEqual(body: Buffer, start: number, end: number, expected: Uint8Array): boolean {
  if (end - start !== expected.length) return false;
  for (let i = 0; i < expected.length; i++) if (body[start + i] !== expected[i]) return false;
  return true;
}

/** Matches known names without decoding them. */
function nameOf(body: Buffer, start: number, end: number): string {
  if (bytesEqual(body, start, end, ID)) return 'id';
  if (bytesEqual(body, start, end, JSONRPC)) return 'jsonrpc';
  if (bytesEqual(body, start, end, METHOD)) return 'method';
  if (bytesEqual(body, start, end, PARAMS)) return 'params';
  return end - start > NAME_MAX_BYTES ? '' : decodeString(body, start, end);
}

/** @throws Failure PARSE_ERROR for a second id. */
function recordMember(
  state: DecodeState,
  nameStart: number,
  nameEnd: number,
  start: number,
  end: number,
): void {
  switch (nameOf(state.body, nameStart, nameEnd)) {
    case 'id':
      if (state.idStart !== MALFORMED) throw new Failure('PARSE_ERROR');
      state.idStart = start;
      state.idEnd = end;
      break;
    case 'jsonrpc':
      state.hasUnexpectedMember ||= state.versionStart !== MALFORMED;
      state.versionStart = start;
      state.versionEnd = end;
      break;
    case 'method':
      state.hasUnexpectedMember ||= state.methodStart !== MALFORMED;
      state.methodStart = start;
      state.methodEnd = end;
      break;
    case 'params':
      state.hasUnexpectedMember ||= state.paramsStart !== MALFORMED;
      state.paramsStart = start;
      state.paramsEnd = end;
      break;
    default:
      state.hasUnexpectedMember = true;
  }
}

function isLegalId({ body, idStart, idEnd }: DecodeState): boolean {
  const kind = kindOf(body[idStart]);
  if (kind === 'number') {
    if (idEnd - idStart > U64_MAX.length) return false;
    for (let at = idStart; at < idEnd; at++) {
      const byte = body[at] as number;
      if (byte < 0x30 || byte > 0x39) return false;
    }
    return idEnd - idStart < U64_MAX.length || body.toString('latin1', idStart, idEnd) <= U64_MAX;
  }
  return kind === 'null' || kind === 'string';
}

/** null counts as absent. */
function versionOf({ body, versionStart, versionEnd }: DecodeState): 'right' | 'absent' | 'wrong' {
  if (versionStart === MALFORMED || kindOf(body[versionStart]) === 'null') return 'absent';
  if (bytesEqual(body, versionStart, versionEnd, VERSION)) return 'right';
  const isText = kindOf(body[versionStart]) === 'string';
  return isText && decodeString(body, versionStart + 1, versionEnd - 1) === '2.0' ? 'right' : 'wrong';
}

function paramsOf({ body, paramsStart }: DecodeState): 'none' | 'array' | 'object' | 'illegal' {
  if (paramsStart === MALFORMED) return 'none';
  const kind = kindOf(body[paramsStart]);
  if (kind === 'null') return 'none';
  return kind === 'array' || kind === 'object' ? kind : 'illegal';
}

function classifyItem(state: DecodeState, bytes: number): EnvelopeItem {
  const { body, idStart, idEnd, limits } = state;
  const hasId = idStart !== MALFORMED;
  if (hasId && !isLegalId(state)) throw new Failure('PARSE_ERROR');
  if (hasId && idEnd - idStart > limits.idMaxBytes) return fault(NULL_ID, 'INVALID_REQUEST', bytes);
  const id = hasId ? body.subarray(idStart, idEnd) : NULL_ID;

  const hasMethod = state.methodStart !== MALFORMED && kindOf(body[state.methodStart]) === 'string';
  const version = versionOf(state);
  const params = paramsOf(state);
  if (!hasMethod || state.hasUnexpectedMember || version === 'wrong' || params === 'illegal') {
    return fault(id, 'INVALID_REQUEST', bytes);
  }
  if (!hasId) return { kind: 'notification', bytes };
  if (version === 'absent') return fault(id, 'UNSUPPORTED_VERSION', bytes);
  // Only unknown methods may have named params: Solana's methods take an array.
  const start = state.methodStart + 1;
  const end = state.methodEnd - 1;
  const method = methodNameAt(state.body, start, end) ?? decodeString(state.body, start, end);
  if (params === 'object' && methodRow(method) !== unknownMethod) return fault(id, 'PARAMS_NOT_ARRAY', bytes);
  const raw = params === 'none' ? null : state.body.subarray(state.paramsStart, state.paramsEnd);
  return { kind: 'call', id, method, params: raw, bytes };
}

const fault = (id: Buffer, code: FailureCode, bytes: number): EnvelopeItem => ({
  kind: 'fault',
  id,
  code,
  bytes,
});

function decodeItem(state: DecodeState, start: number, end: number): void {
  const { body, items, limits } = state;
  if (items.length >= limits.batchMax) {
    throw new Failure('BATCH_TOO_LARGE', { facts: { batchMax: limits.batchMax } });
  }
  if (kindOf(body[start]) !== 'object') throw new Failure('PARSE_ERROR');
  state.clear();
  scanObject(body, start, limits.depthMax, state, recordMember);
  items.push(classifyItem(state, end - start));
}

/**
 * @throws Failure PARSE_ERROR for invalid JSON, UTF-8 or ids, or excessive depth; BATCH_TOO_LARGE. Either failure is
 * the response to the whole body, with id null.
 */
export function decodeEnvelope(body: Buffer, limits: EnvelopeLimits = envelopeLimits): Envelope {
  if (!isUtf8(body)) throw new Failure('PARSE_ERROR');
  const state = new DecodeState(body, limits);
  const start = skipSpace(body, 0);
  const batch = body[start] === ARRAY_OPEN;
  const end = batch
    ? scanArray(body, start, limits.depthMax, state, decodeItem)
    : scanObject(body, start, limits.depthMax, state, recordMember);
  if (end === MALFORMED || skipSpace(body, end) !== body.length) throw new Failure('PARSE_ERROR');
  if (!batch) state.items.push(classifyItem(state, body.length));
  return { batch, items: state.items, bytes: body.length };
}

const namesByLength = byLength(Object.keys(methods).map((text) => ({ text, name: Buffer.from(text) })));

/** Compares from the end, because most names start alike. */
function matchesFromEnd(body: Buffer, start: number, name: Buffer): boolean {
  for (let i = name.length - 1; i >= 0; i--) if (body[start + i] !== name[i]) return false;
  return true;
}

/** @returns an interned name, so that no string is allocated per call; null if unknown. */
export function methodNameAt(body: Buffer, start: number, end: number): string | null {
  const names = namesByLength[end - start];
  if (names === undefined) return null;
  for (const { text, name } of names) if (matchesFromEnd(body, start, name)) return text;
  return null;
}
