import type {
  Call,
  CallTrace,
  Network,
  PendingCall,
  ResponseHandler,
  RpcDispatcher,
  RpcResponse,
} from '../protocol/call.ts';
import type { Failure } from '../protocol/errors.ts';
import { methodTraits } from '../protocol/methods.ts';
import { request } from '../protocol/rpc-dispatcher.ts';
import type { SubmissionResult } from '../protocol/submission-result.ts';
import { signatureOfParams } from '../upstream/transaction-signature.ts';
import type { KeyRecord } from './auth/key-record.ts';
import type { RequestContext } from './request-context.ts';
import type { SessionMinSlots } from './session-min-slots.ts';
import {
  type Submission,
  type SubmissionAttempt,
  type SubmissionLog,
  submissionAttempt,
  submissionLogOptions,
} from './telemetry/submission-log.ts';

/** What a call is asked of, who keeps what became of transactions, and what sessions were told. */
export type ForwardParts = Readonly<{
  source: RpcDispatcher;
  submissions?: SubmissionLog | undefined;
  sessions?: SessionMinSlots | undefined;
}>;

/** Asks for whoever a visit is of. What becomes of a transaction that is handed over is kept. */
export function forwardCall(
  source: RpcDispatcher,
  submissions: SubmissionLog | undefined,
  { key }: RequestContext,
  call: Call,
  handler: ResponseHandler,
): PendingCall {
  if (submissions === undefined || key === null || !methodTraits[call.row.kind].signed) {
    return source.dispatch(call, handler);
  }
  const tracked = new TrackedSubmission(submissions, key, call, handler);
  return source.dispatch({ ...call, trace: tracked }, tracked);
}

/** The same as a promise. */
export function forwardCallAsync(
  { source, submissions }: ForwardParts,
  context: RequestContext,
  call: Call,
  signal?: AbortSignal,
): Promise<RpcResponse> {
  return request(
    { dispatch: (forwarded, handler) => forwardCall(source, submissions, context, forwarded, handler) },
    call,
    signal,
  );
}

/**
 * Hears of the attempts for a submission, of its end and of what became of it then. Whoever wanted to hear of the call is
 * told as long as it is under way.
 */
class TrackedSubmission implements CallTrace, ResponseHandler {
  readonly #submissions: SubmissionLog;
  readonly #key: KeyRecord;
  readonly #at = Date.now();
  readonly #attempts: SubmissionAttempt[] = [];
  /** null once it was answered: what is followed for minutes must not hold a request and its connection. */
  #call: Call | null;
  #handler: ResponseHandler | null;
  #submission: Submission | null = null;

  constructor(submissions: SubmissionLog, key: KeyRecord, call: Call, handler: ResponseHandler) {
    this.#submissions = submissions;
    this.#key = key;
    this.#call = call;
    this.#handler = handler;
  }

  onAttempt(attempt: Parameters<CallTrace['onAttempt']>[0]): void {
    if (this.#attempts.length < submissionLogOptions.attemptsMax) {
      this.#attempts.push(submissionAttempt(attempt, Date.now()));
    }
    this.#call?.trace?.onAttempt(attempt);
  }

  onResponse(response: RpcResponse): void {
    this.#finish(response.errorCode === 0 ? 'accepted' : `JSON-RPC error ${response.errorCode}`)?.onResponse(
      response,
    );
  }

  onError(failure: Failure): void {
    this.#finish(failure.code)?.onError(failure);
  }

  onSubmissionEnd(result: SubmissionResult): void {
    if (this.#submission === null) return;
    this.#submission.result = result;
    this.#submissions.add(this.#submission);
  }

  /** @returns whoever is to be told. */
  #finish(outcome: string): ResponseHandler | null {
    const [call, handler] = [this.#call, this.#handler];
    this.#call = null;
    this.#handler = null;
    // What has no signature to be found by is no transaction.
    const signature = call === null ? null : signatureOfParams(call.params);
    if (call !== null && signature !== null) this.#record(signature, call.network, outcome);
    return handler;
  }

  #record(signature: string, network: Network, outcome: string): void {
    const { id: keyId, customerId } = this.#key;
    const attempts = this.#attempts;
    this.#submission = {
      at: this.#at,
      signature,
      customerId,
      keyId,
      network,
      outcome,
      attempts,
      result: null,
    };
    this.#submissions.add(this.#submission);
  }
}
