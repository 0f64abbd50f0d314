import type {
  Call,
  CallTrace,
  Network,
  PendingCall,
  ResponseHandler,
  RpcDispatcher,
  RpcResponse,
} from '../../protocol/call.ts';
import type { CallAttempt, Failure } from '../../protocol/errors.ts';
import { methodTraits } from '../../protocol/methods.ts';
import type { SubmissionResult } from '../../protocol/submission-result.ts';
import { jsonRpcErrorText } from '../../upstream/outcome.ts';
import { signatureOfParams } from '../../upstream/transaction-signature.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import { loggedMessage, messageIn } from './error-detail.ts';

/** `result` is set later, on the same object. */
export type Submission = {
  /** Unix milliseconds. */
  readonly at: number;
  readonly signature: string;
  readonly customerId: string;
  readonly keyId: string;
  readonly network: Network;
  /** `accepted`, the JSON-RPC error, or the failure code. */
  readonly outcome: string;
  /** Error message of the node or of this service; null for an accepted transaction. */
  readonly message: string | null;
  /** Submission attempts, some of which may end after the response. `result` contains the rebroadcasts. */
  readonly attempts: readonly SubmissionAttempt[];
  /** Null until known; may stay null. */
  result: SubmissionResult | null;
};

export type SubmissionAttempt = Readonly<ReturnType<typeof submissionAttempt>>;

export const submissionLogOptions = {
  /** Maximum number of submissions waiting to be written; above this, the oldest are dropped. */
  entriesMax: 5_000,
  attemptsMax: 100,
} as const;

/** @param nowMs - current Unix milliseconds, to convert `performance.now()` times. */
export function submissionAttempt(attempt: CallAttempt, nowMs: number) {
  const { node, startedAt, endedAt, outcome } = attempt;
  const at = Math.round(nowMs - (performance.now() - startedAt));
  return { node, at, ms: Math.round((endedAt - startedAt) * 1_000) / 1_000, outcome };
}

export class SubmissionLog {
  readonly #entriesMax: number;
  readonly #entries = new Set<Submission>();
  /** Submissions dropped before they were written. */
  dropped = 0;

  constructor({ entriesMax }: Readonly<{ entriesMax: number }> = submissionLogOptions) {
    this.#entriesMax = entriesMax;
  }

  /** Queues a submission for writing, or for writing again after an update. */
  add(submission: Submission): void {
    this.#entries.add(submission);
    if (this.#entries.size <= this.#entriesMax) return;
    const [oldest] = this.#entries;
    if (oldest !== undefined && this.#entries.delete(oldest)) this.dropped++;
  }

  drain(): Submission[] {
    const entries = [...this.#entries];
    this.#entries.clear();
    return entries;
  }
}

/** Forwards a call. The submission log tracks transactions that are submitted with a key. */
export function forwardCall(
  source: Pick<RpcDispatcher, 'dispatch'>,
  submissions: SubmissionLog | undefined,
  key: KeyRecord | null,
  call: Call,
  handler: ResponseHandler,
): PendingCall {
  if (submissions === undefined || key === null || !methodTraits[call.row.kind].signed) {
    return source.dispatch(call, handler);
  }
  const tracked = new TrackedSubmission(submissions, key, call, handler);
  return source.dispatch({ ...call, trace: tracked }, tracked);
}

/** Records one submission. Until the response arrives, also passes attempts on to the call's trace. */
class TrackedSubmission implements CallTrace, ResponseHandler {
  readonly #submissions: SubmissionLog;
  readonly #key: KeyRecord;
  readonly #at = Date.now();
  readonly #attempts: SubmissionAttempt[] = [];
  /** Null after the response, because tracking lasts minutes and must not retain the request and its connection. */
  #call: Call | null;
  #handler: ResponseHandler | null;
  #submission: Submission | null = null;

  constructor(submissions: SubmissionLog, key: KeyRecord, call: Call, handler: ResponseHandler) {
    this.#submissions = submissions;
    this.#key = key;
    this.#call = call;
    this.#handler = handler;
  }

  onAttempt(attempt: CallAttempt): void {
    const hasCapacity = this.#attempts.length < submissionLogOptions.attemptsMax;
    if (hasCapacity) this.#attempts.push(submissionAttempt(attempt, Date.now()));
    this.#call?.trace?.onAttempt(attempt);
  }

  onResponse(response: RpcResponse): void {
    const { errorCode, body } = response;
    if (errorCode === 0) this.#finish('accepted', null)?.onResponse(response);
    else this.#finish(jsonRpcErrorText(errorCode), loggedMessage(messageIn(body)))?.onResponse(response);
  }

  onError(failure: Failure): void {
    this.#finish(failure.code, loggedMessage(failure.text))?.onError(failure);
  }

  onSubmissionEnd(result: SubmissionResult): void {
    if (this.#submission === null) return;
    this.#submission.result = result;
    this.#submissions.add(this.#submission);
  }

  #finish(outcome: string, message: string | null): ResponseHandler | null {
    const [call, handler] = [this.#call, this.#handler];
    this.#call = null;
    this.#handler = null;
    // Without a signature, the params contain no transaction.
    const signature = call === null ? null : signatureOfParams(call.params);
    if (call !== null && signature !== null) this.#record(signature, call.network, outcome, message);
    return handler;
  }

  #record(signature: string, network: Network, outcome: string, message: string | null): void {
    const { id: keyId, customerId } = this.#key;
    const facts = { signature, customerId, keyId, network, outcome, message };
    this.#submission = { ...facts, at: this.#at, attempts: this.#attempts, result: null };
    this.#submissions.add(this.#submission);
  }
}
