import { writeJson } from '../../base/json.ts';
import { failureBody } from '../../protocol/envelope-answer.ts';
import { Failure, type FailureCode } from '../../protocol/errors.ts';
import { RpcError } from '../../protocol/rpc-error.ts';

/** Most bytes of the reason in a close frame. Source: RFC 6455 §5.5. */
export const CLOSE_REASON_MAX_BYTES = 123;

/** What the client reads when its connection is closed: the row's text, and how far it was behind. ASCII. */
export function closeReason({ row, facts }: Failure): string {
  const behind = facts?.bytes === undefined ? '' : ` (${facts.bytes} bytes behind)`;
  return `${row.text}${behind}`.slice(0, CLOSE_REASON_MAX_BYTES);
}

/** The raw JSON of the `error` member for a refusal. */
export const errorBody = (refusal: Failure | RpcError): Buffer =>
  refusal instanceof RpcError
    ? Buffer.from(writeJson({ code: refusal.code, message: refusal.message, data: refusal.data }))
    : failureBody(refusal);

/** The row for what `ws` found wrong with the bytes of a client, by the close code that it proposes. */
const faults: Readonly<Record<number, FailureCode>> = {
  1002: 'MALFORMED_FRAME',
  1007: 'PARSE_ERROR',
  // Too many fragments, or too many pieces of one.
  1008: 'MESSAGE_TOO_LARGE',
  1009: 'MESSAGE_TOO_LARGE',
};

/** The failure behind a fault in what came from the client. */
export const faultOf = (code: number): Failure => new Failure(faults[code] ?? 'MALFORMED_FRAME');
