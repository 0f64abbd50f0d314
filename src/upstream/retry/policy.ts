import type { RpcResponse } from '../../protocol/call.ts';
import { Failure, type FailureFacts } from '../../protocol/errors.ts';
import { type MethodKind, methodTraits } from '../../protocol/methods.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import type { UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { signatureOfParams } from '../transaction-signature.ts';
import type { RetryState } from './retry-state.ts';
import { hasUsableNode, startsRound } from './select-node.ts';

/**
 * Which outcome is worth another node. Pure. Source: reference solana-json-rpc.md §1.6; the tables are
 * those of protocol/methods.ts (natures) and protocol/node-errors.ts.
 */

/**
 * - `answer`: give it to the caller.
 * - `hop`: ask another node.
 * - `hop-once`: ask one other node, then believe what two have said.
 * - `hop-away`: ask other nodes, and this one not again.
 * - `fail`: no answer, and no other node may be asked.
 */
export type RetryDecision = 'answer' | 'hop' | 'hop-once' | 'hop-away' | 'fail';

/** A node that says no to the request as such will say so again; another one may have larger limits. */
const refusesRequest = ({ status }: Extract<Outcome, { kind: 'status' }>): boolean =>
  status === 400 || status === 413;

/** How the caller is told, when no node had anything better to say; null when it is not the request's fault. */
export function refusalOf(outcomes: readonly Outcome[]): 'BODY_TOO_LARGE' | 'INVALID_REQUEST' | null {
  const refused = (outcome: Outcome): boolean => outcome.kind === 'status' && refusesRequest(outcome);
  if (outcomes.length === 0 || !outcomes.every(refused)) return null;
  const tooLarge = outcomes.some((outcome) => outcome.kind === 'status' && outcome.status === 413);
  return tooLarge ? 'BODY_TOO_LARGE' : 'INVALID_REQUEST';
}

/** Whether no connection came about, so that nothing was sent. */
export const isConnectionRefused = (outcome: Outcome): boolean =>
  outcome.kind === 'transport' && !outcome.wasSent && !outcome.timedOut;

function decideForResponse(kind: MethodKind, outcome: Extract<Outcome, { kind: 'answer' }>): RetryDecision {
  if (outcome.response.errorCode === 0) return 'answer';
  const { rule, didNothing } = nodeErrorRow(outcome.response.errorCode);
  if (methodTraits[kind].oneNode && !didNothing) return 'answer';
  if (rule === 'hop' || rule === 'hop-once') return rule;
  return outcome.preflight === 'blockhash-not-found' ? 'hop-once' : 'answer';
}

/** What to do after an attempt for a method of this nature. */
export function decideRetry(kind: MethodKind, outcome: Outcome): RetryDecision {
  switch (outcome.kind) {
    case 'answer':
      return decideForResponse(kind, outcome);
    case 'aborted':
    case 'no-room':
      return 'fail';
    case 'too-large':
      // A light read is seldom answered at such length: one node's word is not enough. Heavy work is not done twice.
      return methodTraits[kind].hedged ? 'hop-away' : 'fail';
    case 'transport':
      return outcome.wasSent && methodTraits[kind].oneNode ? 'fail' : 'hop';
    case 'status':
      if (methodTraits[kind].oneNode) return 'fail';
      return refusesRequest(outcome) ? 'hop-away' : 'hop';
    case 'garbage':
    case 'withheld':
      return methodTraits[kind].oneNode ? 'fail' : 'hop';
  }
}

/** Whether the node may have acted on the request without our learning of it. */
export function isAmbiguous(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'answer':
      return nodeErrorRow(outcome.response.errorCode).mayHaveActed;
    case 'status':
      return outcome.status >= 500;
    case 'garbage':
    case 'withheld':
    case 'too-large':
    case 'no-room':
      return true;
    case 'transport':
    case 'aborted':
      return outcome.wasSent;
  }
}

/** A pause grows to this and no further: a node that comes back is found soon. */
const BACKOFF_MAX_MS = 250;

/** Milliseconds until the first resting node may be asked; null when none rests. */
export function throttleRemainingMs(nodes: readonly UpstreamNode[]): number | null {
  const now = performance.now();
  const remaining = nodes.filter((node) => node.isThrottled(now)).map((node) => node.throttledUntil - now);
  return remaining.length === 0 ? null : Math.min(...remaining);
}

/** Milliseconds until the first budget that is spent allows a request; null when none is. */
export function budgetWaitMs(nodes: readonly UpstreamNode[]): number | null {
  const now = performance.now();
  const waits = nodes.filter((node) => node.isOverBudget(now)).map((node) => node.budget?.waitMs(now) ?? 0);
  return waits.length === 0 ? null : Math.min(...waits);
}

/** How long to wait before a node is asked that has failed already: 0 while its round goes on. */
export function roundBackoffMs(state: RetryState, next: UpstreamNode): number {
  if (!startsRound(state, next)) return 0;
  const ms = Math.max(1, state.limits.backoffMs) * 2 ** state.backoffs++;
  return Math.min(ms, BACKOFF_MAX_MS) * (0.5 + Math.random());
}

/** How long to wait for a node that rests; null where none does, or not soon enough, or something was said already. */
export function throttleWaitMs(state: RetryState): number | null {
  const throttleMs = state.best === null ? throttleRemainingMs(state.nodes) : null;
  if (throttleMs === null || throttleMs > state.limits.restWaitMaxMs) return null;
  return throttleMs + 1 + Math.random() * state.limits.backoffMs;
}

/** How long a node is waited for before a second one is asked besides: for honest heavy work as long as a light read may take. */
export function hedgeAfterMs({ traits, limits, call }: RetryState, node: UpstreamNode): number {
  return traits.hedged ? node.latencies.hedgeAfterMs(call.row) : limits.attemptTimeoutMs;
}

/** How long one attempt may take. */
export function timeoutOf({ deadline, traits, limits, best }: RetryState, now: number): number {
  const remainingMs = deadline - now;
  const { attemptTimeoutMs, sendAttemptTimeoutMs, hedgeMaxMs } = limits;
  let limitMs = traits.signed ? Math.min(attemptTimeoutMs, sendAttemptTimeoutMs) : attemptTimeoutMs;
  // Somebody said that there is nothing: that is not held back for long.
  if (best?.errorCode === 0) limitMs = Math.min(limitMs, hedgeMaxMs);
  return Math.max(1, traits.takesAllTheTime ? remainingMs : Math.min(remainingMs, limitMs));
}

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
  const needsConfirmation = state.limits.askTwiceForNull && state.call.row.history === 'signature';
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
    const { answerMaxBytes } = state.limits;
    return new Failure('ANSWER_TOO_LARGE', { facts: { ...facts, answerMaxBytes }, cause });
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
