import { isUtf8 } from 'node:buffer';
import { decodeString, MALFORMED, MemberFinder, scanArray, skipSpace } from '../base/json-scan.ts';
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
  /** Passes `params` as an object on to methods of Solana, which reject it in different words. */
  objectParams?: true;
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

/** Indexes in `members`. */
const [ID, JSONRPC, METHOD, PARAMS] = [0, 1, 2, 3] as const;
/** Shared by all bodies: the result of a scan is used before the next scan. */
const members = new MemberFinder(['id', 'jsonrpc', 'method', 'params']);
const VERSION = Buffer.from('"2.0"');
const U64_MAX = '18446744073709551615';
const [QUOTE, ARRAY_OPEN, OBJECT_OPEN, LETTER_N] = [0x22, 0x5b, 0x7b, 0x6e];

type DecodeState = Readonly<{ body: Buffer; limits: EnvelopeLimits; items: EnvelopeItem[] }>;

function isLegalId(body: Buffer, start: number, end: number): boolean {
  // A string or null.
  if (body[start] === QUOTE || body[start] === LETTER_N) return true;
  if (end - start > U64_MAX.length) return false;
  for (let at = start; at < end; at++) {
    const byte = body[at] as number;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return end - start < U64_MAX.length || body.toString('latin1', start, end) <= U64_MAX;
}

/** null counts as absent. */
function versionOf(body: Buffer): 'right' | 'absent' | 'wrong' {
  const [start, end] = [members.starts[JSONRPC] as number, members.ends[JSONRPC] as number];
  if (start < 0 || body[start] === LETTER_N) return 'absent';
  if (end - start === VERSION.length && matchesFromEnd(body, start, VERSION)) return 'right';
  return body[start] === QUOTE && decodeString(body, start + 1, end - 1) === '2.0' ? 'right' : 'wrong';
}

function paramsOf(body: Buffer): 'none' | 'array' | 'object' | 'illegal' {
  const start = members.starts[PARAMS] as number;
  if (start < 0 || body[start] === LETTER_N) return 'none';
  if (body[start] === ARRAY_OPEN) return 'array';
  return body[start] === OBJECT_OPEN ? 'object' : 'illegal';
}

/** @throws Failure PARSE_ERROR for an illegal or second id. */
function classifyItem({ body, limits }: DecodeState, bytes: number): EnvelopeItem {
  const { starts, ends } = members;
  const [idStart, idEnd] = [starts[ID] as number, ends[ID] as number];
  const hasId = idStart >= 0;
  if (hasId && ((members.counts[ID] as number) > 1 || !isLegalId(body, idStart, idEnd)))
    throw new Failure('PARSE_ERROR');
  if (hasId && idEnd - idStart > limits.idMaxBytes) return fault(NULL_ID, 'INVALID_REQUEST', bytes);
  const id = hasId ? body.subarray(idStart, idEnd) : NULL_ID;

  const methodStart = starts[METHOD] as number;
  const hasMethod = methodStart >= 0 && body[methodStart] === QUOTE;
  const version = versionOf(body);
  const params = paramsOf(body);
  if (!hasMethod || members.extras > 0 || version === 'wrong' || params === 'illegal') {
    return fault(id, 'INVALID_REQUEST', bytes);
  }
  if (!hasId) return { kind: 'notification', bytes };
  if (version === 'absent') return fault(id, 'UNSUPPORTED_VERSION', bytes);
  // Only unknown methods may have named params: Solana's methods take an array.
  const [start, end] = [methodStart + 1, (ends[METHOD] as number) - 1];
  const method = methodNameAt(body, start, end) ?? decodeString(body, start, end);
  const isKnown = methodRow(method) !== unknownMethod;
  if (params === 'object' && isKnown && !limits.objectParams) return fault(id, 'PARAMS_NOT_ARRAY', bytes);
  const raw = params === 'none' ? null : members.valueIn(body, PARAMS);
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
  if (body[start] !== OBJECT_OPEN) throw new Failure('PARSE_ERROR');
  members.scan(body, start, limits.depthMax);
  items.push(classifyItem(state, end - start));
}

/**
 * @throws Failure PARSE_ERROR for invalid JSON, UTF-8 or ids, or excessive depth; BATCH_TOO_LARGE. Either failure is
 * the response to the whole body, with id null.
 */
export function decodeEnvelope(body: Buffer, limits: EnvelopeLimits = envelopeLimits): Envelope {
  if (!isUtf8(body)) throw new Failure('PARSE_ERROR');
  const state: DecodeState = { body, limits, items: [] };
  const start = skipSpace(body, 0);
  const batch = body[start] === ARRAY_OPEN;
  const end = batch
    ? scanArray(body, start, limits.depthMax, state, decodeItem)
    : members.scan(body, start, limits.depthMax);
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
