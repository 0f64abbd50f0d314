import type {
  Call,
  CallAttempt,
  CallTrace,
  ResponseHandler,
  RpcDispatcher,
  RpcResponse,
} from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import { preflightFault } from '../attempt.ts';
import type { UpstreamNode } from '../node.ts';
import type { Outcome } from '../outcome.ts';
import { decideRetry, isAmbiguous } from '../retry/retry-rules.ts';
import type { SubmitLimits } from './limits.ts';
import type { SubmitRequest } from './submit-request.ts';
import type { SubmitTargets } from './submit-targets.ts';
import { isAccepted, type SubmitListener, submitTransaction, toCallAttempt } from './submit-transaction.ts';

/** What a submission stands on. */
export type SubmissionParts = Readonly<{
  /** Walks from node to node until one answers. */
  next: RpcDispatcher;
  targets: SubmitTargets;
  limits: Pick<SubmitLimits, 'attemptTimeoutMs'>;
}>;

/** Hears how a submission ended: one of them, once. Must not throw. */
export interface SubmissionListener {
  onAccepted(): void;
  /** A node's own error. */
  onRejected(response: RpcResponse): void;
  onError(failure: Failure): void;
}

/**
 * One transaction on its way to everybody who takes any.
 *
 * With preflight one node is asked to look at it, under the caller's own commitment and slot, as any call is asked:
 * a node that is behind, or gives no answer, makes room for the next. What it refuses is handed to nobody; that no
 * node looked at it is no reason to send it either, since whoever wants a preflight would rather not pay for what
 * fails. What it accepts is handed to all others at once, who need not look again: so one transaction costs one
 * simulation, and waits for one answer.
 *
 * Without preflight there is nothing to wait for: everybody has it at once, and whoever takes it first gives the
 * answer. When all have failed, the nodes are walked as for any call, until the time is up.
 */
export class Submission implements ResponseHandler, CallTrace, SubmitListener {
  readonly #parts: SubmissionParts;
  readonly #call: Call;
  readonly #request: SubmitRequest;
  readonly #listener: SubmissionListener;
  /** Handed over, and not heard of yet. */
  #outstanding = 0;
  #isOver = false;
  /** Somebody may have it without our having learned of it. */
  #isAmbiguous = false;
  /** What the first node refused it with that was not asked to look at it. */
  #refusal: RpcResponse | null = null;
  /** Who has it: they are not handed it again. */
  readonly #acceptedBy = new Set<string>();

  constructor(parts: SubmissionParts, call: Call, request: SubmitRequest, listener: SubmissionListener) {
    this.#parts = parts;
    this.#call = call;
    this.#request = request;
    this.#listener = listener;
  }

  /** It may be over when this returns. */
  start(): void {
    if (this.#request.skipPreflight) this.#submitToAll();
    else this.#dispatchWithRetry();
  }

  /** An attempt on the walk has ended. */
  onAttempt(attempt: CallAttempt): void {
    if (attempt.outcome === 'ok') this.#acceptedBy.add(attempt.node);
    this.#call.trace?.onAttempt(attempt);
  }

  /** The walk has ended. */
  onResponse(response: RpcResponse): void {
    if (response.errorCode === 0 || this.#wasAlreadyProcessed(response)) {
      this.#accept();
      if (!this.#request.skipPreflight) this.#submitToOthers();
    } else if (this.#isAmbiguous && !isConclusive(response)) {
      // What this node does not know says nothing about what another may have taken.
      this.#fail(new Failure('UPSTREAM_UNAVAILABLE'));
    } else {
      this.#isOver = true;
      this.#listener.onRejected(response);
    }
  }

  onError(failure: Failure): void {
    this.#fail(failure);
  }

  onSubmitOutcome(node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
    this.#call.trace?.onAttempt(toCallAttempt(node, outcome, elapsedMs));
    if (isAccepted(outcome)) this.#accept();
    else this.#recordRejection(node, outcome);
    if (--this.#outstanding > 0 || this.#isOver) return;
    if (this.#refusal === null) this.#dispatchWithRetry();
    else this.onResponse(this.#refusal);
  }

  #dispatchWithRetry(): void {
    this.#parts.next.dispatch({ ...this.#call, params: this.#request.firstNodeParams, trace: this }, this);
  }

  #submitToAll(): void {
    const { firstNodeParams, otherNodeParams } = this.#request;
    const [first, ...others] = this.#parts.targets.nodes(this.#call.network);
    const sendOnly = this.#parts.targets.sendOnly(this.#call.network);
    // All are counted before any is heard of.
    this.#outstanding = (first === undefined ? 0 : 1) + others.length + sendOnly.length;
    if (this.#outstanding === 0) {
      this.#dispatchWithRetry();
      return;
    }
    if (first !== undefined) this.#submitTo(first, firstNodeParams);
    for (const node of others) this.#submitTo(node, otherNodeParams);
    this.#submitPlain(sendOnly);
  }

  /** After it was accepted: what they answer is only recorded. */
  #submitToOthers(): void {
    const { targets } = this.#parts;
    const { network } = this.#call;
    const others = targets.nodes(network).filter(({ name }) => !this.#acceptedBy.has(name));
    this.#submitPlain([...others, ...targets.sendOnly(network)]);
  }

  #submitPlain(nodes: readonly UpstreamNode[]): void {
    for (const node of nodes) this.#submitTo(node, this.#request.plain);
  }

  #submitTo(node: UpstreamNode, params: Buffer): void {
    submitTransaction(
      node,
      { ...this.#call, params, trace: null },
      this.#parts.limits.attemptTimeoutMs,
      this,
    );
  }

  /** Endpoints for sending alone have rules of their own: what they refuse says nothing about the transaction. */
  #recordRejection(node: UpstreamNode, outcome: Outcome): void {
    this.#isAmbiguous ||= isAmbiguous(outcome);
    if (outcome.kind !== 'answer' || this.#parts.targets.isSendOnly(node)) return;
    if (decideRetry(this.#call.row.kind, outcome) === 'answer') this.#refusal ??= outcome.response;
  }

  /** That it was processed already says that somebody took it; who wants a preflight is told that it failed. */
  #wasAlreadyProcessed(response: RpcResponse): boolean {
    const { skipPreflight } = this.#request;
    return (this.#isAmbiguous || skipPreflight) && preflightFault(response) === 'already-processed';
  }

  #accept(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onAccepted();
  }

  #fail(failure: Failure): void {
    this.#isOver = true;
    this.#listener.onError(this.#isAmbiguous ? this.#withUnknownOutcome(failure) : failure);
  }

  /** The same failure, which says that the transaction may land all the same. */
  #withUnknownOutcome(failure: Failure): Failure {
    if (failure.facts?.outcome === 'unknown') return failure;
    const { signature } = this.#request;
    const facts = { network: this.#call.network, ...failure.facts, outcome: 'unknown', signature };
    const isUpstreamFailure = failure.row.owner === 'upstream';
    return new Failure(isUpstreamFailure ? failure.code : 'UPSTREAM_UNAVAILABLE', { facts, cause: failure });
  }
}

/** Whether an error is about the transaction, and not about what the node has or has not seen yet. */
const isConclusive = (response: RpcResponse): boolean =>
  nodeErrorRow(response.errorCode).rule === 'believe' && preflightFault(response) !== 'blockhash-not-found';
