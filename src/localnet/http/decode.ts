import { type JsonValue, parseJson } from '../../base/json.ts';

/** What a response echoes: null, a u64 or a string. Source: jsonrpc-core 18 `Id`. */
export type RequestId = null | number | bigint | string;

/**
 * One member of a request body. Source: jsonrpc-core 18 `Call`: a call, a notification (no `id`: it is not
 * executed and leaves no answer), or an object that is neither.
 */
export type DecodedCall = Readonly<
  | {
      kind: 'call';
      id: RequestId;
      /** Whether `jsonrpc` was given; the answer to a call without it has none either. */
      versioned: boolean;
      method: string;
      /** The positional parameters, or an object, which no method takes; undefined when there are none. */
      params: JsonValue | undefined;
    }
  | { kind: 'notification' }
  | { kind: 'invalid'; id: RequestId }
>;

export type DecodedBody = Readonly<
  | { kind: 'single'; call: DecodedCall }
  | { kind: 'batch'; calls: readonly DecodedCall[] }
  | { kind: 'unparsable' }
>;

type JsonObject = { [name: string]: JsonValue };

const U64_MAX = 0xffff_ffff_ffff_ffffn;
const MEMBERS = new Set(['jsonrpc', 'method', 'params', 'id']);
/** An id that is negative or that JSON writes with a point or an exponent: `JSON.parse` makes 1 of `1.0`. */
const SUSPECT_ID = /"id"\s*:\s*(?:-|\d+[.eE])/;
const UNSIGNED = /^\d+$/;
const ILLEGAL = Symbol('illegal id');

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function markIllegalId(name: string, value: unknown, context?: { source?: string }): unknown {
  const illegal = name === 'id' && typeof value === 'number' && !UNSIGNED.test(context?.source ?? '');
  return illegal ? ILLEGAL : value;
}

/** Whether a member of the body has a number for an id that is not written as an unsigned integer. */
function hasFractionalId(text: string): boolean {
  if (!SUSPECT_ID.test(text)) return false;
  const body: unknown = JSON.parse(text, markIllegalId);
  const members: unknown[] = Array.isArray(body) ? body : [body];
  return members.some((member) => (member as { id?: unknown } | null)?.id === ILLEGAL);
}

function isLegalId(value: JsonValue): value is RequestId {
  if (value === null || typeof value === 'string') return true;
  if (typeof value === 'bigint') return value >= 0n && value <= U64_MAX;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

/** @returns null when the id is of a kind that no answer can echo, which spoils the whole body. */
function decodeCall(value: JsonValue): DecodedCall | null {
  if (!isObject(value)) return null;
  const given = Object.hasOwn(value, 'id');
  const id = given ? (value.id as JsonValue) : null;
  if (!isLegalId(id)) return null;
  const { jsonrpc, method, params } = value;
  const wellFormed =
    typeof method === 'string' &&
    (jsonrpc === undefined || jsonrpc === null || jsonrpc === '2.0') &&
    (params === undefined || params === null || typeof params === 'object') &&
    Object.keys(value).every((name) => MEMBERS.has(name));
  if (!wellFormed) return { kind: 'invalid', id };
  if (!given) return { kind: 'notification' };
  return { kind: 'call', id, versioned: jsonrpc === '2.0', method, params: params ?? undefined };
}

function decodeText(text: string): DecodedBody {
  const value = parseJson(text);
  if (hasFractionalId(text)) return { kind: 'unparsable' };
  if (!Array.isArray(value)) {
    const call = decodeCall(value);
    return call === null ? { kind: 'unparsable' } : { kind: 'single', call };
  }
  const calls = value.map(decodeCall);
  return calls.every((call) => call !== null) ? { kind: 'batch', calls } : { kind: 'unparsable' };
}

/**
 * Reads a request body the way jsonrpc-core 18 does: one member with an illegal id, or one that is not an
 * object, makes the whole body unparsable. Source: reference §2.3.
 */
export function decodeBody(text: string): DecodedBody {
  try {
    return decodeText(text);
  } catch {
    return { kind: 'unparsable' };
  }
}
