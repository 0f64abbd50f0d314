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
import type { UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { type AttemptListener, preflightFault, sendAttempt } from '../retry/attempt.ts';
import { decideRetry, isAmbiguous } from '../retry/policy.ts';
import type { SubmitRequest } from './submit-request.ts';
import type { SubmitTargets } from './submit-targets.ts';

/** Every limit of sending. Times in milliseconds, sizes in bytes. */
export type SubmitLimits = Readonly<{
  /** Different transactions that are on their way to an answer at a time; beyond them another is refused. */
  underWayMax: number;
  /** Who waits for those answers, of all of them together: they may outlive the requests that they came with. */
  callersMax: number;
  /** How long one who is handed a transaction may take to answer, where nobody waits behind it for its turn. */
  attemptTimeoutMs: number;
  /** Between two rebroadcasts of one transaction, give or take a quarter. */
  rebroadcastMs: number;
  /** Transactions that are being rebroadcast at a time, each to everybody; others wait for their turn. */
  rebroadcastsAtATime: number;
  /** Transactions that are followed at a time; beyond it those are given up that were rebroadcast most often. */
  pendingMax: number;
  /** What they may take together. */
  pendingMaxBytes: number;
  /** How long one is followed. */
  pendingMaxMs: number;
  /** Between two looks at what became of those that are followed, and at the block height. */
  statusPollMs: number;
  expiryPollMs: number;
  /** Such calls under way at a time. */
  callsAtATime: number;
  /** How long after it was accepted the same transaction is not handed over again, and of how many that is known. */
  acceptedMs: number;
  acceptedMax: number;
}>;

/** Limits that suit a few thousand transactions a second. */
export const submitLimits: SubmitLimits = {
  underWayMax: 10_000,
  callersMax: 50_000,
  attemptTimeoutMs: 5_000,
  rebroadcastMs: 2_000,
  rebroadcastsAtATime: 64,
  pendingMax: 10_000,
  pendingMaxBytes: 32 * 1024 * 1024,
  pendingMaxMs: 120_000,
  statusPollMs: 1_000,
  expiryPollMs: 2_000,
  callsAtATime: 4,
  acceptedMs: 1_000,
  acceptedMax: 10_000,
};

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

/** Hears what became of each that was handed a transaction. Must not throw. */
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

/** Hands a transaction to one node, once. It may be heard of before this returns. */
export function submitTransaction(
  node: UpstreamNode,
  call: Call,
  timeoutMs: number,
  listener: SubmitListener,
): void {
  sendAttempt(node, call, timeoutMs, new SubmitAttempt(node, listener));
}

/** Whether the node has the transaction, or knows that it has landed already. */
export const isAccepted = (outcome: Outcome): boolean =>
  outcome.kind === 'answer' &&
  (outcome.response.errorCode === 0 || outcome.preflight === 'already-processed');

/** An attempt that has just ended, for whoever records it. */
export function toCallAttempt(node: UpstreamNode, outcome: Outcome, elapsedMs: number): CallAttempt {
  const endedAt = performance.now();
  return { node: node.name, startedAt: endedAt - elapsedMs, endedAt, outcome: outcomeLabel(outcome) };
}

function outcomeLabel(outcome: Outcome): string {
  if (!isAccepted(outcome)) return outcomeText(outcome);
  return outcome.kind === 'answer' && outcome.response.errorCode === 0 ? 'ok' : 'already processed';
}
