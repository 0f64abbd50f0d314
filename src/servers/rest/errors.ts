import { type WritableJson, writeJson } from '../../base/json.ts';
import type { Failure } from '../../protocol/errors.ts';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import { NodeRefusal } from '../../protocol/rest/node-refusal.ts';

/** For invalid fields the first problem, for a transaction refused by a node the node's message. */
function messageOf(failure: Failure): string {
  if (failure instanceof InvalidFields) {
    const [first] = failure.problems;
    return first === undefined ? failure.restText : `${first.field} ${first.message}`;
  }
  return failure instanceof NodeRefusal && failure.code === 'TRANSACTION_REFUSED'
    ? failure.error.message || failure.restText
    : failure.restText;
}

function detailsOf(failure: Failure): { readonly [name: string]: WritableJson } {
  if (failure instanceof InvalidFields) return { response: { errors: failure.problems } };
  return failure instanceof NodeRefusal ? { rpc: failure.error } : {};
}

/**
 * Error envelope. The interface's client turns the object `error` with its message into an Error.
 * Source: rest-api.md §1, "Errors".
 */
export function errorBody(failure: Failure): Buffer {
  const { code, facts, retryAfter } = failure;
  const detail = messageOf(failure);
  const message = failure instanceof InvalidFields ? failure.restText : detail;
  const error = { ...facts, code, message: detail, retryAfter, ...detailsOf(failure) };
  return Buffer.from(writeJson({ success: false, message, error }));
}
