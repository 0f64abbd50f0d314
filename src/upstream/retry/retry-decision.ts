import type { RpcResponse } from '../../protocol/call.ts';
import { Failure, type FailureFacts } from '../../protocol/errors.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import type { UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { signatureOfParams } from '../transaction-signature.ts';
import { budgetWaitMs, throttleRemainingMs } from './backoff.ts';
import {
  decideRetry,
  isAmbiguous,
  isConnectionRefused,
  type RetryDecision,
  refusalOf,
} from './retry-rules.ts';
import type { RetryState } from './retry-state.ts';
import { hasUsableNode } from './select-node.ts';

const NULL = Buffer.from('null');

/** Tells more than any error: a node looked, and there is nothing. */
const RANK_OF_NULL = -1;

const informativeness = ({ errorCode }: RpcResponse): number =>
  errorCode === 0 ? RANK_OF_NULL : nodeErrorRow(errorCode).rank;

function retainBest(state: RetryState, response: RpcResponse): void {
  if (state.best === null || informativeness(response) < informativeness(state.best)) state.best = response;
}

/** Whether a result says that something of history is not there, which another node may know better. */
function isAbsence({ call }: RetryState, { errorCode, body }: RpcResponse): boolean {
  const { history } = call.row;
  return errorCode === 0 && (history === 'signature' || history === 'slot') && body.equals(NULL);
}

/**
 * What to do after an attempt: a null of history does not win while another node is out, and is doubted once where it
 * is named by signature and another node may have it.
 */
function decide(state: RetryState, node: UpstreamNode, outcome: Outcome): RetryDecision {
  if (outcome.kind !== 'answer' || !isAbsence(state, outcome.response))
    return decideRetry(state.call.row.kind, outcome);
  if (state.isDoubted) return 'answer';
  if (state.isActive) return 'hop-once';
  const needsConfirmation = state.limits.confirmNullResults && state.call.row.history === 'signature';
  return needsConfirmation && hasUsableNode(state, node) ? 'hop-once' : 'answer';
}

/**
 * After an attempt whose end we did not see, "already processed" means: it worked.
 * Source: reference solana-json-rpc.md §1.1, the S rule.
 */
function resolveSubmission(state: RetryState, outcome: Extract<Outcome, { kind: 'answer' }>): RpcResponse {
  const wasAccepted = state.ambiguous && outcome.preflight === 'already-processed';
  if (!wasAccepted || !state.traits.signed) return outcome.response;
  const signature = signatureOfParams(state.call.params);
  return signature === null
    ? outcome.response
    : { body: Buffer.from(JSON.stringify(signature)), errorCode: 0 };
}

/**
 * A node had what others said they have not: from now on they are asked for the like after it. And whoever sent more than
 * is passed on, where this one did not, did not tell the truth: that was no answer.
 */
export function recordMissingCapabilities(state: RetryState): void {
  if (state.steps.length === 0) return;
  const now = performance.now();
  for (const { node, outcome } of state.steps) {
    if (outcome.kind === 'too-large') node.recordOutcome({ kind: 'garbage' }, null);
    if (outcome.kind !== 'answer') continue;
    const { missing } = nodeErrorRow(outcome.response.errorCode);
    if (missing !== null) node.capabilities.recordMissing(missing, state.call.method, state.slot, now);
  }
}

/** What a node says that probably lacks the answer is no opinion, unless all of them do. */
function isConclusive({ call, slot, nodes }: RetryState, node: UpstreamNode): boolean {
  const now = performance.now();
  const isMissing = ({ capabilities }: UpstreamNode): boolean =>
    capabilities.isMissing(call.method, slot, now);
  return !isMissing(node) || nodes.every(isMissing);
}

/** Takes in what an attempt came to. Returns the answer for the caller, or null to go on. @throws Failure */
export function applyOutcome(state: RetryState, node: UpstreamNode, outcome: Outcome): RpcResponse | null {
  const decision = decide(state, node, outcome);
  const isResponse = outcome.kind === 'answer';
  state.refused = isConnectionRefused(outcome);
  if (!state.refused) state.sent++;
  if (isResponse && decision === 'answer') {
    if (outcome.response.errorCode === 0) recordMissingCapabilities(state);
    return resolveSubmission(state, outcome);
  }
  state.addStep({
    node,
    outcome,
    hasNoResponse: !isResponse && decision !== 'hop-away',
    isBehind: isResponse && nodeErrorRow(outcome.response.errorCode).behind,
  });
  state.ambiguous ||= isAmbiguous(outcome);
  state.timedOut = outcome.kind === 'transport' && outcome.timedOut;
  if (isResponse) retainBest(state, outcome.response);
  if (decision === 'fail') throw failureOf(state, outcome);
  if (decision !== 'hop-once') return null;
  if (state.isDoubted) return conclude(state);
  state.isDoubted = isConclusive(state, node);
  return null;
}

function factsOf(state: RetryState): FailureFacts {
  const { network, params } = state.call;
  const { hasEffect, signed } = state.traits;
  if (!state.ambiguous || !hasEffect) return { network };
  const signature = signed ? signatureOfParams(params) : null;
  return { network, outcome: 'unknown', ...(signature !== null && { signature }) };
}

/** Nobody could be asked: all that there are have as much as they take. */
function overloadFailure(state: RetryState, facts: FailureFacts, cause: Error): Failure | null {
  if (state.steps.length > 0) return null;
  const spentMs = budgetWaitMs(state.nodes);
  if (spentMs !== null) {
    const retryAfter = Math.max(1, Math.ceil(spentMs / 1_000));
    return new Failure('OVERLOADED', { facts, cause, retryAfter });
  }
  return state.nodes.some((node) => node.isFull()) ? new Failure('OVERLOADED', { facts, cause }) : null;
}

/** @param outcome - what ended it; null: nobody is left to ask. */
export function failureOf(state: RetryState, outcome: Outcome | null): Failure {
  const facts = factsOf(state);
  const retryAfter = retryAfterOf(state, facts);
  const history = state.steps.map((step) => `${step.node.name}: ${outcomeText(step.outcome)}`);
  const cause = new Error(history.join('; ') || 'no node could be asked');
  if (state.isTooLarge && outcome?.kind !== 'aborted') {
    const { responseMaxBytes } = state.limits;
    return new Failure('ANSWER_TOO_LARGE', { facts: { ...facts, answerMaxBytes: responseMaxBytes }, cause });
  }
  if (outcome?.kind === 'no-room') return new Failure('OVERLOADED', { facts, cause, retryAfter });
  const refusal = refusalOf(state.steps.map((step) => step.outcome));
  if (refusal !== null) return new Failure(refusal, { facts, cause });
  if (outcome?.kind === 'aborted') return new Failure('CLIENT_GONE', { facts, cause });
  if (state.timedOut || state.isOutOfTime(performance.now())) {
    return new Failure('UPSTREAM_TIMEOUT', { facts, cause, retryAfter });
  }
  return (
    overloadFailure(state, facts, cause) ?? new Failure('UPSTREAM_UNAVAILABLE', { facts, cause, retryAfter })
  );
}

/** Seconds, or null to invite nobody to do again what may have been done already. */
function retryAfterOf(state: RetryState, facts: FailureFacts): number | null {
  if (facts.outcome === 'unknown' && !state.traits.signed) return null;
  return Math.max(1, Math.ceil((throttleRemainingMs(state.nodes) ?? 0) / 1000));
}

/**
 * Nobody is left to ask: the best of the errors, or a failure of ours. A node's "not now" says nothing about a
 * transaction that an earlier node may have accepted.
 * @throws Failure
 */
export function conclude(state: RetryState): RpcResponse {
  const isUnknown = state.traits.signed && state.ambiguous;
  if (state.best !== null && !isUnknown) return state.best;
  throw failureOf(state, null);
}

/**
 * Where nothing was sent the time decides, once every node had its two turns; elsewhere the number of attempts. Once
 * one said that there is nothing, or more than is passed on, only those are asked against whom nothing speaks.
 */
export function canRetry(state: RetryState): boolean {
  const { refused, sent, steps, nodes, limits, reconnectUntil } = state;
  if ((state.best?.errorCode === 0 || state.isTooLarge) && !hasUsableNode(state, null)) return false;
  if (!refused) return sent < limits.attemptsMax;
  return performance.now() < reconnectUntil || steps.length < Math.min(limits.attemptsMax, 2 * nodes.length);
}
