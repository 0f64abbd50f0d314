import type { RpcResponse } from '../../protocol/call.ts';
import { Failure, type FailureFacts } from '../../protocol/errors.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import { hasConfirmingNode, hasUsableNode, startsRound } from '../balancing/select-node.ts';
import type { UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { signatureOfParams } from '../transaction-signature.ts';
import {
  decideRetry,
  isAmbiguous,
  isConnectFailure,
  type RetryDecision,
  rejectionCodeOf,
} from './decision.ts';
import type { RetryState } from './retry-state.ts';

/** Short, so that a recovered node is found soon. */
const BACKOFF_MAX_MS = 250;

export function throttleRemainingMs(nodes: readonly UpstreamNode[]): number | null {
  const now = performance.now();
  const remaining = nodes.filter((node) => node.isThrottled(now)).map((node) => node.throttledUntil - now);
  return remaining.length === 0 ? null : Math.min(...remaining);
}

export function budgetWaitMs(nodes: readonly UpstreamNode[]): number | null {
  const now = performance.now();
  const waits = nodes.filter((node) => node.isOverBudget(now)).map((node) => node.budget?.waitMs(now) ?? 0);
  return waits.length === 0 ? null : Math.min(...waits);
}

export function roundBackoffMs(state: RetryState, next: UpstreamNode): number {
  if (!startsRound(state, next)) return 0;
  const ms = Math.max(1, state.limits.backoffMs) * 2 ** state.backoffs++;
  return Math.min(ms, BACKOFF_MAX_MS) * (0.5 + Math.random());
}

/** null if no node is throttled, the wait is too long, or a response is already available. */
export function throttleWaitMs(state: RetryState): number | null {
  const throttleMs = state.best === null ? throttleRemainingMs(state.nodes) : null;
  if (throttleMs === null || throttleMs > state.limits.throttleWaitMaxMs) return null;
  return throttleMs + 1 + Math.random() * state.limits.backoffMs;
}

/** Scans are hedged after `attemptTimeoutMs`, although they may use the whole timeout of the call. */
export function hedgeAfterMs({ traits, limits, call }: RetryState, node: UpstreamNode): number {
  return traits.hedged ? node.latencies.hedgeAfterMs(call.row) : limits.attemptTimeoutMs;
}

export function timeoutOf({ deadline, traits, limits, best }: RetryState, now: number): number {
  const remainingMs = deadline - now;
  const { attemptTimeoutMs, sendAttemptTimeoutMs, hedgeMaxMs } = limits;
  let limitMs = traits.signed ? Math.min(attemptTimeoutMs, sendAttemptTimeoutMs) : attemptTimeoutMs;
  // Do not wait long: another node has already returned a null result.
  if (best?.errorCode === 0) limitMs = Math.min(limitMs, hedgeMaxMs);
  return Math.max(1, traits.mayUseWholeTimeout ? remainingMs : Math.min(remainingMs, limitMs));
}

const NULL = Buffer.from('null');

const RANK_OF_NULL = -1;

const informativeness = ({ errorCode }: RpcResponse): number =>
  errorCode === 0 ? RANK_OF_NULL : nodeErrorRow(errorCode).rank;

function retainBest(state: RetryState, response: RpcResponse): void {
  if (state.best === null || informativeness(response) < informativeness(state.best)) state.best = response;
}

/** Whether the result is null for ledger history that another node may have. */
function isAbsence({ call }: RetryState, { errorCode, body }: RpcResponse): boolean {
  const { history } = call.row;
  return errorCode === 0 && (history === 'signature' || history === 'slot') && body.equals(NULL);
}

/** Holds back the first null while another attempt runs. If possible, another node confirms a null for a signature. */
function decide(state: RetryState, node: UpstreamNode, outcome: Outcome): RetryDecision {
  if (outcome.kind !== 'response' || !isAbsence(state, outcome.response))
    return decideRetry(state.call.row.kind, outcome);
  if (state.awaitsConfirmation) return 'return';
  if (state.isActive) return 'confirm';
  const needsConfirmation = state.limits.confirmNullResults && state.call.row.history === 'signature';
  return needsConfirmation && hasConfirmingNode(state, node) ? 'confirm' : 'return';
}

/** "Already processed" after an ambiguous attempt means success. Source: solana-json-rpc.md §1.5 (S rule). */
function resolveSubmission(state: RetryState, outcome: Extract<Outcome, { kind: 'response' }>): RpcResponse {
  const wasAccepted = state.ambiguous && outcome.preflight === 'already-processed';
  if (!wasAccepted || !state.traits.signed) return outcome.response;
  const signature = signatureOfParams(state.call.params);
  return signature === null
    ? outcome.response
    : { body: Buffer.from(JSON.stringify(signature)), errorCode: 0 };
}

/** Called when a node succeeded: earlier errors show missing capabilities, and oversized responses count as invalid. */
export function recordMissingCapabilities(state: RetryState): void {
  if (state.steps.length === 0) return;
  const now = performance.now();
  for (const { node, outcome } of state.steps) {
    if (outcome.kind === 'too-large') node.recordOutcome({ kind: 'invalid' }, null);
    if (outcome.kind !== 'response') continue;
    const { missing } = nodeErrorRow(outcome.response.errorCode);
    if (missing !== null) node.capabilities.recordMissing(missing, state.call.method, state.slot, now);
  }
}

/** A response from a node that probably lacks the data is inconclusive, unless all nodes lack it. */
function isConclusive({ call, slot, nodes }: RetryState, node: UpstreamNode): boolean {
  const now = performance.now();
  const isMissing = ({ capabilities }: UpstreamNode): boolean =>
    capabilities.isMissing(call.method, slot, now);
  return !isMissing(node) || nodes.every(isMissing);
}

const withAttempts = ({ attempts }: RetryState, response: RpcResponse): RpcResponse =>
  response.errorCode === 0 ? response : { ...response, attempts };

/**
 * @returns the response for the caller, or null to retry.
 * @throws Failure
 */
export function applyOutcome(
  state: RetryState,
  node: UpstreamNode,
  outcome: Outcome,
  elapsedMs: number,
): RpcResponse | null {
  const isResponse = outcome.kind === 'response';
  if (isResponse && outcome.response.errorCode === 0 && state.call.row.history === null) {
    // Most calls end here: a result that no other node needs to confirm.
    if (state.steps.length > 0) recordMissingCapabilities(state);
    return state.traits.signed ? resolveSubmission(state, outcome) : outcome.response;
  }
  const decision = decide(state, node, outcome);
  state.connectFailed = isConnectFailure(outcome);
  if (!state.connectFailed) state.countedAttempts++;
  if (isResponse && decision === 'return' && outcome.response.errorCode === 0) {
    recordMissingCapabilities(state);
    return resolveSubmission(state, outcome);
  }
  state.addStep({
    node,
    outcome,
    elapsedMs,
    endedAt: performance.now(),
    hasNoUsableResponse: !isResponse && decision !== 'retry-elsewhere',
    isBehind: isResponse && nodeErrorRow(outcome.response.errorCode).behind,
  });
  if (isResponse && decision === 'return') return withAttempts(state, resolveSubmission(state, outcome));
  state.ambiguous ||= isAmbiguous(outcome);
  state.timedOut = outcome.kind === 'transport' && outcome.timedOut;
  if (isResponse) retainBest(state, outcome.response);
  if (decision === 'fail') throw failureOf(state, outcome);
  if (decision !== 'confirm') return null;
  if (state.awaitsConfirmation) return conclude(state);
  state.awaitsConfirmation = isConclusive(state, node);
  return null;
}

function factsOf(state: RetryState): FailureFacts {
  const { network, params } = state.call;
  const { hasEffect, signed } = state.traits;
  if (!state.ambiguous || !hasEffect) return { network };
  const signature = signed ? signatureOfParams(params) : null;
  return { network, outcome: 'unknown', ...(signature !== null && { signature }) };
}

function overloadFailure(state: RetryState, facts: FailureFacts, cause: Error): Failure | null {
  if (state.steps.length > 0) return null;
  const spentMs = budgetWaitMs(state.nodes);
  if (spentMs !== null) {
    const retryAfter = Math.max(1, Math.ceil(spentMs / 1_000));
    return new Failure('OVERLOADED', { facts, cause, retryAfter });
  }
  return state.nodes.some((node) => node.isFull()) ? new Failure('OVERLOADED', { facts, cause }) : null;
}

/** @param outcome - outcome that ended the call; null if no further attempt is possible. */
export function failureOf(state: RetryState, outcome: Outcome | null): Failure {
  const facts = factsOf(state);
  const retryAfter = retryAfterOf(state, facts);
  const history = state.steps.map((step) => `${step.node.name}: ${outcomeText(step.outcome)}`);
  const cause = new Error(history.join('; ') || 'no node available');
  const { attempts } = state;
  if (state.isTooLarge && outcome?.kind !== 'aborted') {
    const { responseMaxBytes } = state.limits;
    const sizeFacts = { ...facts, answerMaxBytes: responseMaxBytes };
    return new Failure('ANSWER_TOO_LARGE', { facts: sizeFacts, cause, attempts });
  }
  if (outcome?.kind === 'over-budget')
    return new Failure('OVERLOADED', { facts, cause, retryAfter, attempts });
  const code = rejectionCodeOf(state.steps.map((step) => step.outcome));
  if (code !== null) return new Failure(code, { facts, cause, attempts });
  if (outcome?.kind === 'aborted') return new Failure('CLIENT_GONE', { facts, cause, attempts });
  if (state.timedOut || state.isOutOfTime(performance.now())) {
    return new Failure('UPSTREAM_TIMEOUT', { facts, cause, retryAfter, attempts });
  }
  return (
    overloadFailure(state, facts, cause) ??
    new Failure('UPSTREAM_UNAVAILABLE', { facts, cause, retryAfter, attempts })
  );
}

/** Seconds; null for a call that may have been executed and must not be repeated. */
function retryAfterOf(state: RetryState, facts: FailureFacts): number | null {
  if (facts.outcome === 'unknown' && !state.traits.signed) return null;
  return Math.max(1, Math.ceil((throttleRemainingMs(state.nodes) ?? 0) / 1000));
}

/**
 * Returns the best response when no node is left, but not if an earlier node may have accepted the transaction.
 * @throws Failure
 */
export function conclude(state: RetryState): RpcResponse {
  const isUnknown = state.traits.signed && state.ambiguous;
  if (state.best !== null && !isUnknown) return withAttempts(state, state.best);
  throw failureOf(state, null);
}

/**
 * Limits retries by the number of attempts, or by time (after at least two rounds) while connections are refused. After
 * a null result or a response that was too large, only usable nodes are tried.
 */
export function canRetry(state: RetryState): boolean {
  const { connectFailed, countedAttempts: sent, steps, nodes, limits, reconnectUntil } = state;
  if ((state.best?.errorCode === 0 || state.isTooLarge) && !hasUsableNode(state)) return false;
  if (!connectFailed) return sent < limits.attemptsMax;
  return performance.now() < reconnectUntil || steps.length < Math.min(limits.attemptsMax, 2 * nodes.length);
}
