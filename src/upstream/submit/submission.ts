import type { Call, CallTrace, ResponseHandler, RpcDispatcher, RpcResponse } from '../../protocol/call.ts';
import { type CallAttempt, Failure } from '../../protocol/errors.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import type { UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { type AttemptListener, preflightFault, sendAttempt } from '../retry/attempt.ts';
import { decideRetry, isAmbiguous } from '../retry/decision.ts';
import type { SubmitLimits } from './limits.ts';
import type { SubmitRequest } from './submit-request.ts';
import type { SubmitTargets } from './submit-targets.ts';

export type SubmissionParts = Readonly<{
  next: RpcDispatcher;
  targets: SubmitTargets;
  limits: Pick<SubmitLimits, 'attemptTimeoutMs'>;
}>;

/** Maximum number of failed attempts to report with a rejection. */
const FAILED_MAX = 16;

/** Receives the final result exactly once. Must not throw. */
export interface SubmissionListener {
  onAccepted(): void;
  onRejected(response: RpcResponse): void;
  onError(failure: Failure): void;
}

/**
 * Submits one transaction to all targets.
 *
 * With preflight, one node simulates the transaction at the caller's commitment and minimum slot, with retries as
 * for any call. Only a transaction that passes is sent to all other targets, without preflight.
 *
 * Without preflight, the transaction is sent to all targets at once, and the first acceptance is the response. If all
 * targets fail, it is retried like any call until the timeout.
 */
export class Submission implements ResponseHandler, CallTrace, SubmitListener {
  readonly #parts: SubmissionParts;
  readonly #call: Call;
  readonly #request: SubmitRequest;
  readonly #listener: SubmissionListener;
  #outstanding = 0;
  #isSettled = false;
  /** A target may have accepted the transaction without confirming that it did. */
  #isAmbiguous = false;
  #rejection: RpcResponse | null = null;
  /** Failed attempts, for the request log. */
  readonly #failed: CallAttempt[] = [];
  /** Names of targets that accepted the transaction. They are skipped afterwards. */
  readonly #acceptedBy = new Set<string>();

  constructor(parts: SubmissionParts, call: Call, request: SubmitRequest, listener: SubmissionListener) {
    this.#parts = parts;
    this.#call = call;
    this.#request = request;
    this.#listener = listener;
  }

  start(): void {
    if (this.#request.skipPreflight) this.#submitToAll();
    else this.#dispatchWithRetry();
  }

  onAttempt(attempt: CallAttempt): void {
    if (attempt.outcome === 'ok') this.#acceptedBy.add(attempt.node);
    else this.#addFailed(attempt);
    this.#call.trace?.onAttempt(attempt);
  }

  onResponse(response: RpcResponse): void {
    if (response.errorCode === 0 || this.#wasAlreadyProcessed(response)) {
      this.#accept();
      if (!this.#request.skipPreflight) this.#submitToOthers();
    } else if (this.#isAmbiguous && !isConclusive(response)) {
      // This node's error is not conclusive: other targets may have accepted the transaction.
      this.onError(new Failure('UPSTREAM_UNAVAILABLE'));
    } else {
      this.#isSettled = true;
      this.#listener.onRejected({ ...response, attempts: this.#failed });
    }
  }

  onError(failure: Failure): void {
    this.#isSettled = true;
    const sent = this.#isAmbiguous ? this.#withUnknownOutcome(failure) : failure;
    sent.attempts = this.#failed;
    this.#listener.onError(sent);
  }

  onSubmitOutcome(node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
    const attempt = toCallAttempt(node, outcome, elapsedMs);
    this.#call.trace?.onAttempt(attempt);
    if (isAccepted(outcome)) this.#accept();
    else this.#recordRejection(node, outcome, attempt);
    if (--this.#outstanding > 0 || this.#isSettled) return;
    if (this.#rejection === null) this.#dispatchWithRetry();
    else this.onResponse(this.#rejection);
  }

  #dispatchWithRetry(): void {
    this.#parts.next.dispatch({ ...this.#call, params: this.#request.firstNodeParams, trace: this }, this);
  }

  #submitToAll(): void {
    const { firstNodeParams, otherNodeParams } = this.#request;
    const [first, ...others] = this.#parts.targets.nodes(this.#call.network);
    const sendOnly = this.#parts.targets.sendOnly(this.#call.network);
    // Set before the first attempt, because its outcome may arrive synchronously.
    this.#outstanding = (first === undefined ? 0 : 1) + others.length + sendOnly.length;
    if (this.#outstanding === 0) {
      this.#dispatchWithRetry();
      return;
    }
    if (first !== undefined) this.#submitTo(first, firstNodeParams);
    for (const node of others) this.#submitTo(node, otherNodeParams);
    this.#submitPlain(sendOnly);
  }

  /** Further outcomes are recorded but do not change the response. */
  #submitToOthers(): void {
    const { targets } = this.#parts;
    const { network } = this.#call;
    const others = targets.nodes(network).filter(({ name }) => !this.#acceptedBy.has(name));
    this.#submitPlain([...others, ...targets.sendOnly(network)]);
  }

  #submitPlain(nodes: readonly UpstreamNode[]): void {
    for (const node of nodes) this.#submitTo(node, this.#request.bareParams);
  }

  #submitTo(node: UpstreamNode, params: Buffer): void {
    const call = { ...this.#call, params, trace: null };
    submitTransaction(node, call, this.#parts.limits.attemptTimeoutMs, this);
  }

  /** Send-only endpoints have rules of their own: their rejections say nothing about the transaction. */
  #recordRejection(node: UpstreamNode, outcome: Outcome, attempt: CallAttempt): void {
    this.#addFailed(attempt);
    this.#isAmbiguous ||= isAmbiguous(outcome);
    if (outcome.kind !== 'response' || this.#parts.targets.isSendOnly(node)) return;
    if (decideRetry(this.#call.row.kind, outcome) === 'return') this.#rejection ??= outcome.response;
  }

  /** "Already processed" means accepted if preflight was skipped or an earlier attempt may have been accepted. */
  #wasAlreadyProcessed(response: RpcResponse): boolean {
    const { skipPreflight } = this.#request;
    return (this.#isAmbiguous || skipPreflight) && preflightFault(response) === 'already-processed';
  }

  #addFailed(attempt: CallAttempt): void {
    if (!this.#isSettled && this.#failed.length < FAILED_MAX) this.#failed.push(attempt);
  }

  #accept(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#listener.onAccepted();
  }

  #withUnknownOutcome(failure: Failure): Failure {
    if (failure.facts?.outcome === 'unknown') return failure;
    const { signature } = this.#request;
    const facts = { network: this.#call.network, ...failure.facts, outcome: 'unknown', signature };
    const isUpstreamFailure = failure.row.owner === 'upstream';
    return new Failure(isUpstreamFailure ? failure.code : 'UPSTREAM_UNAVAILABLE', { facts, cause: failure });
  }
}

const isConclusive = (response: RpcResponse): boolean =>
  nodeErrorRow(response.errorCode).rule === 'accept' && preflightFault(response) !== 'blockhash-not-found';

export interface SubmitListener {
  onSubmitOutcome(node: UpstreamNode, outcome: Outcome, elapsedMs: number): void;
}

class SubmitAttempt implements AttemptListener {
  readonly #node: UpstreamNode;
  readonly #listener: SubmitListener;

  constructor(node: UpstreamNode, listener: SubmitListener) {
    this.#node = node;
    this.#listener = listener;
  }

  onOutcome(outcome: Outcome, elapsedMs: number): void {
    this.#node.recordOutcome(outcome, elapsedMs);
    this.#listener.onSubmitOutcome(this.#node, outcome, elapsedMs);
  }
}

/** `listener` may be called before the function returns. */
export function submitTransaction(
  node: UpstreamNode,
  call: Call,
  timeoutMs: number,
  listener: SubmitListener,
): void {
  sendAttempt(node, call, timeoutMs, new SubmitAttempt(node, listener));
}

/** Whether the node has the transaction or knows that it landed. */
export const isAccepted = (outcome: Outcome): boolean =>
  outcome.kind === 'response' &&
  (outcome.response.errorCode === 0 || outcome.preflight === 'already-processed');

export function toCallAttempt(node: UpstreamNode, outcome: Outcome, elapsedMs: number): CallAttempt {
  const endedAt = performance.now();
  return { node: node.name, startedAt: endedAt - elapsedMs, endedAt, outcome: outcomeLabel(outcome) };
}

function outcomeLabel(outcome: Outcome): string {
  if (!isAccepted(outcome)) return outcomeText(outcome);
  return outcome.kind === 'response' && outcome.response.errorCode === 0 ? 'ok' : 'already processed';
}
