import { ApiError } from '../api-error.ts';

/** How a refusal looks on the wire, the same on every route. */
export type ProblemJson = Readonly<{
  error: Readonly<{
    code: string;
    message: string;
    fields?: Readonly<Record<string, string>>;
    requestId: string;
  }>;
}>;

/** What is said of a fault that is ours: nothing of what was caught. */
const INTERNAL = 'something went wrong here: try again, and tell the operator the request id if it stays so';

/** Status, headers and body of what was thrown. */
export function problemOf(thrown: unknown, requestId: string) {
  if (!(thrown instanceof ApiError)) {
    const error = { code: 'INTERNAL', message: INTERNAL, requestId };
    return { status: 500, headers: {}, body: { error } satisfies ProblemJson };
  }
  const { code, message, fields, retryAfter, status } = thrown;
  const error = { code, message, ...(fields && { fields }), requestId };
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return { status, headers, body: { error } satisfies ProblemJson };
}
