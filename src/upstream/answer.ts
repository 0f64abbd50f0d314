import type { Answer } from '../protocol/call.ts';
import { type Member, objectMembers } from './json-span.ts';

/**
 * Finds the `result` or the `error` in what a node sent, as a view into its bytes: a result is never parsed, so
 * that u64 values survive and a large answer costs nothing. The order in which Agave writes is recognised by its
 * two ends: our id in the tail proves that nothing was cut off. Every other order is scanned whole, because there
 * a truncated answer may end in a brace as well.
 */

const RESULT_FIRST = Buffer.from('{"jsonrpc":"2.0","result":');
const ERROR_FIRST = Buffer.from('{"jsonrpc":"2.0","error":');
const NEWLINE = 0x0a;

/** JSON-RPC errors that a node can only give with `id: null`, because it could not read ours. */
const UNREADABLE = new Set([-32700, -32600]);

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

function endsWith(bytes: Buffer, suffix: string, end: number): boolean {
  const from = end - suffix.length;
  return from >= 0 && bytes.toString('latin1', from, end) === suffix;
}

/** `code` of a raw `error` member; null when it is not an error object or its code is no error's. */
export function errorCodeOf(error: Buffer): number | null {
  try {
    const code = (JSON.parse(error.toString('utf8')) as { code?: unknown } | null)?.code;
    return Number.isSafeInteger(code) && code !== 0 ? (code as number) : null;
  } catch {
    return null;
  }
}

function errorAnswer(body: Buffer): Answer | null {
  const errorCode = errorCodeOf(body);
  return errorCode === null ? null : { body, errorCode };
}

/** `{"jsonrpc":"2.0","result":…,"id":N}`, the order in which Agave writes. */
function locateByEnds(bytes: Buffer, id: number, end: number): Answer | null {
  const tail = `,"id":${id}}`;
  if (!endsWith(bytes, tail, end)) return null;
  const to = end - tail.length;
  if (startsWith(bytes, RESULT_FIRST) && to > RESULT_FIRST.length) {
    return { body: bytes.subarray(RESULT_FIRST.length, to), errorCode: 0 };
  }
  if (startsWith(bytes, ERROR_FIRST)) return errorAnswer(bytes.subarray(ERROR_FIRST.length, to));
  return null;
}

/** The only member of that name, null when there is none, undefined when there are several. */
function only(members: readonly Member[], name: string): Member | null | undefined {
  const found = members.filter((member) => member.name === name);
  return found.length > 1 ? undefined : (found[0] ?? null);
}

/** Any order and spacing: the whole text is checked. A null beside its filled sister counts as absent. */
function locateByScan(bytes: Buffer, id: number): Answer | null {
  const members = objectMembers(bytes);
  if (members === null || members.some(({ name }) => name.includes('\\'))) return null;
  const idMember = only(members, 'id');
  const result = only(members, 'result');
  const error = only(members, 'error');
  if (idMember == null || result === undefined || error === undefined) return null;
  const text = (member: Member): string => bytes.toString('latin1', member.from, member.to);
  const hasError = error !== null && text(error) !== 'null';
  const theirId = text(idMember);
  if (hasError) {
    if (result !== null && text(result) !== 'null') return null;
    const answer = errorAnswer(bytes.subarray(error.from, error.to));
    const ours = theirId === String(id) || (theirId === 'null' && UNREADABLE.has(answer?.errorCode ?? 0));
    return ours ? answer : null;
  }
  if (result === null || theirId !== String(id)) return null;
  return { body: bytes.subarray(result.from, result.to), errorCode: 0 };
}

/**
 * The answer to request `id` in the bytes a node sent with HTTP 200.
 * @returns null when they are not that: truncated, HTML, someone else's id, neither result nor error.
 */
export function locateAnswer(bytes: Buffer, id: number): Answer | null {
  const end = bytes[bytes.length - 1] === NEWLINE ? bytes.length - 1 : bytes.length;
  return locateByEnds(bytes, id, end) ?? locateByScan(bytes, id);
}
