import { MemberFinder, skipSpace } from '../../base/json-scan.ts';
import type { CallAttempt, Failure } from '../../protocol/errors.ts';
import { methodRow, methodTraits } from '../../protocol/methods.ts';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import { NodeRejection } from '../../protocol/rest/node-rejection.ts';
import { jsonRpcErrorText } from '../../upstream/outcome.ts';
import { signatureOfParams } from '../../upstream/transaction-signature.ts';
import { redactText } from './redact-body.ts';
import type { RequestResult, Wire } from './request-result.ts';

const MESSAGE_MAX_CHARS = 500;
/** Longer than a message, so that no secret at its end is cut before it is recognized. */
const REDACTED_MAX_CHARS = 2 * MESSAGE_MAX_CHARS;
const DEPTH_MAX = 64;

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

const errorObject = new MemberFinder(['message']);

/** The message in a node's JSON-RPC error; null if it has none. */
export function messageIn(error: Buffer): string | null {
  if (errorObject.scan(error, skipSpace(error, 0), DEPTH_MAX) < 0) return null;
  const value = errorObject.valueIn(error, 0);
  if (value === null) return null;
  const message: unknown = JSON.parse(value.toString('utf8'));
  return typeof message === 'string' ? message : null;
}

/** The text that the client received; for a node's error, the text of the node. */
function textOf(failure: Failure, wire: Wire): string {
  if (failure instanceof NodeRejection) return failure.error.message || failure.restText;
  if (failure instanceof InvalidFields) {
    const [first] = failure.problems;
    return first === undefined ? failure.restText : `${first.field} ${first.message}`;
  }
  if (wire === 'grpc') return failure.grpcText;
  return wire === 'rest' ? failure.restText : failure.text;
}

/** A message as it is stored: bounded, without secrets and control characters; null if it is empty. */
export const loggedMessage = (text: string | null): string | null =>
  text === null || text === ''
    ? null
    : redactText(text, REDACTED_MAX_CHARS).slice(0, MESSAGE_MAX_CHARS).toWellFormed();

/** Error message for the log, bounded, without secrets and control characters; null if there is none. */
export function errorMessageOf({
  status,
  detail,
  failure,
  wire,
  rpcCode,
  result,
}: RequestResult): string | null {
  if (status === 'ok') return null;
  const isNodeError = failure === null && rpcCode !== 0 && result !== null;
  const text =
    detail?.message ??
    (failure === null ? null : textOf(failure, wire)) ??
    (isNodeError ? messageIn(asBuffer(result)) : null);
  return loggedMessage(text);
}

/** The first node that returned the error; without one, the node of the last attempt. */
export function nodeOfError(attempts: readonly CallAttempt[], rpcCode: number): string | null {
  const outcome = jsonRpcErrorText(rpcCode);
  return (attempts.find((attempt) => attempt.outcome === outcome) ?? attempts.at(-1))?.node ?? null;
}

/** The first param of a method that looks up a transaction. */
const SIGNATURE_PARAM = /^\s*\[\s*"([1-9A-HJ-NP-Za-km-z]{64,88})"/;
const SIGNATURE_PARAM_MAX_BYTES = 128;

/** Signature of the transaction that a JSON-RPC call sends, simulates or looks up. */
export function signatureOfCall({ method, params }: Pick<RequestResult, 'method' | 'params'>): string | null {
  if (params === null) return null;
  const { kind, history } = methodRow(method);
  const bytes = asBuffer(params);
  if (methodTraits[kind].signed || kind === 'simulate') return signatureOfParams(bytes);
  if (history !== 'signature') return null;
  return SIGNATURE_PARAM.exec(bytes.toString('latin1', 0, SIGNATURE_PARAM_MAX_BYTES))?.[1] ?? null;
}
