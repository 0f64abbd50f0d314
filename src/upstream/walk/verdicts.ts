import type { Answer } from '../../protocol/call.ts';
import { Failure, type FailureFacts } from '../../protocol/errors.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import type { UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { isAmbiguous, isRefusedConnection, judge, refusalOf, type Verdict } from '../retry-rules.ts';
import { sentSignature } from '../sent-signature.ts';
import { hasGoodNode } from './next-node.ts';
import { budgetLeft, restLeft } from './pauses.ts';
import type { Walk } from './walk.ts';

const NULL = Buffer.from('null');

/** Tells more than any error: a node looked, and there is nothing. */
const RANK_OF_NULL = -1;

const rankOf = ({ errorCode }: Answer): number =>
  errorCode === 0 ? RANK_OF_NULL : nodeErrorRow(errorCode).rank;

function keepBest(walk: Walk, answer: Answer): void {
  if (walk.best === null || rankOf(answer) < rankOf(walk.best)) walk.best = answer;
}

/** Whether a result says that something of history is not there, which another node may know better. */
function isAbsence({ call }: Walk, { errorCode, body }: Answer): boolean {
  const { history } = call.row;
  return errorCode === 0 && (history === 'signature' || history === 'slot') && body.equals(NULL);
}

/**
 * What to do after an attempt: a null of history does not win while another node is out, and is doubted once where it
 * is named by signature and another node may have it.
 */
function verdictOf(walk: Walk, node: UpstreamNode, outcome: Outcome): Verdict {
  if (outcome.kind !== 'answer' || !isAbsence(walk, outcome.answer))
    return judge(walk.call.row.nature, outcome);
  if (walk.doubted) return 'answer';
  if (walk.isAsking) return 'hop-once';
  const isDoubted = walk.limits.askTwiceForNull && walk.call.row.history === 'signature';
  return isDoubted && hasGoodNode(walk, node) ? 'hop-once' : 'answer';
}

/**
 * After an attempt whose end we did not see, "already processed" means: it worked.
 * Source: reference solana-json-rpc.md §1.1, the S rule.
 */
function settleSend(walk: Walk, outcome: Extract<Outcome, { kind: 'answer' }>): Answer {
  const worked = walk.ambiguous && outcome.preflight === 'already-processed';
  if (!worked || !walk.nature.signed) return outcome.answer;
  const signature = sentSignature(walk.call.params);
  return signature === null ? outcome.answer : { body: Buffer.from(JSON.stringify(signature)), errorCode: 0 };
}

/**
 * A node had what others said they have not: from now on they are asked for the like after it. And whoever sent more than
 * is passed on, where this one did not, did not tell the truth: that was no answer.
 */
export function teach(walk: Walk): void {
  if (walk.story.length === 0) return;
  const now = performance.now();
  for (const { node, outcome } of walk.story) {
    if (outcome.kind === 'too-large') node.learn({ kind: 'garbage' }, null);
    if (outcome.kind !== 'answer') continue;
    const { lack } = nodeErrorRow(outcome.answer.errorCode);
    if (lack !== null) node.abilities.teach(lack, walk.call.method, walk.slot, now);
  }
}

/** What a node says that probably lacks the answer is no opinion, unless all of them do. */
function isOpinion({ call, slot, nodes }: Walk, node: UpstreamNode): boolean {
  const now = performance.now();
  const lacks = ({ abilities }: UpstreamNode): boolean => abilities.lacks(call.method, slot, now);
  return !lacks(node) || nodes.every(lacks);
}

/** Takes in what an attempt came to. Returns the answer for the caller, or null to go on. @throws Failure */
export function take(walk: Walk, node: UpstreamNode, outcome: Outcome): Answer | null {
  const verdict = verdictOf(walk, node, outcome);
  const isAnswer = outcome.kind === 'answer';
  walk.refused = isRefusedConnection(outcome);
  if (!walk.refused) walk.sent++;
  if (isAnswer && verdict === 'answer') {
    if (outcome.answer.errorCode === 0) teach(walk);
    return settleSend(walk, outcome);
  }
  walk.tell({
    node,
    outcome,
    isMute: !isAnswer && verdict !== 'hop-away',
    isBehind: isAnswer && nodeErrorRow(outcome.answer.errorCode).behind,
  });
  walk.ambiguous ||= isAmbiguous(outcome);
  walk.timedOut = outcome.kind === 'transport' && outcome.timedOut;
  if (isAnswer) keepBest(walk, outcome.answer);
  if (verdict === 'fail') throw failureOf(walk, outcome);
  if (verdict !== 'hop-once') return null;
  if (walk.doubted) return conclude(walk);
  walk.doubted = isOpinion(walk, node);
  return null;
}

function factsOf(walk: Walk): FailureFacts {
  const { network, params } = walk.call;
  const { hasEffect, signed } = walk.nature;
  if (!walk.ambiguous || !hasEffect) return { network };
  const signature = signed ? sentSignature(params) : null;
  return { network, outcome: 'unknown', ...(signature !== null && { signature }) };
}

/** Nobody could be asked: all that there are have as much as they take. */
function overload(walk: Walk, facts: FailureFacts, cause: Error): Failure | null {
  if (walk.story.length > 0) return null;
  const spentMs = budgetLeft(walk.nodes);
  if (spentMs !== null) {
    const retryAfter = Math.max(1, Math.ceil(spentMs / 1_000));
    return new Failure('OVERLOADED', { facts, cause, retryAfter });
  }
  return walk.nodes.some((node) => node.isFull()) ? new Failure('OVERLOADED', { facts, cause }) : null;
}

/** @param outcome - what ended it; null: nobody is left to ask. */
export function failureOf(walk: Walk, outcome: Outcome | null): Failure {
  const facts = factsOf(walk);
  const retryAfter = retryAfterOf(walk, facts);
  const story = walk.story.map((step) => `${step.node.name}: ${outcomeText(step.outcome)}`);
  const cause = new Error(story.join('; ') || 'no node could be asked');
  if (walk.isTooLarge && outcome?.kind !== 'aborted') {
    const { answerMaxBytes } = walk.limits;
    return new Failure('ANSWER_TOO_LARGE', { facts: { ...facts, answerMaxBytes }, cause });
  }
  if (outcome?.kind === 'no-room') return new Failure('OVERLOADED', { facts, cause, retryAfter });
  const refusal = refusalOf(walk.story.map((step) => step.outcome));
  if (refusal !== null) return new Failure(refusal, { facts, cause });
  if (outcome?.kind === 'aborted') return new Failure('CLIENT_GONE', { facts, cause });
  if (walk.timedOut || walk.isOutOfTime(performance.now())) {
    return new Failure('UPSTREAM_TIMEOUT', { facts, cause, retryAfter });
  }
  return overload(walk, facts, cause) ?? new Failure('UPSTREAM_UNAVAILABLE', { facts, cause, retryAfter });
}

/** Seconds, or null to invite nobody to do again what may have been done already. */
function retryAfterOf(walk: Walk, facts: FailureFacts): number | null {
  if (facts.outcome === 'unknown' && !walk.nature.signed) return null;
  return Math.max(1, Math.ceil((restLeft(walk.nodes) ?? 0) / 1000));
}

/**
 * Nobody is left to ask: the best of the errors, or a failure of ours. A node's "not now" says nothing about a
 * transaction that an earlier node may have accepted.
 * @throws Failure
 */
export function conclude(walk: Walk): Answer {
  const lost = walk.nature.signed && walk.ambiguous;
  if (walk.best !== null && !lost) return walk.best;
  throw failureOf(walk, null);
}

/**
 * Where nothing was sent the time decides, once every node had its two turns; elsewhere the number of attempts. Once
 * one said that there is nothing, or more than is passed on, only those are asked against whom nothing speaks.
 */
export function mayAskMore(walk: Walk): boolean {
  const { refused, sent, story, nodes, limits, reconnectUntil } = walk;
  if ((walk.best?.errorCode === 0 || walk.isTooLarge) && !hasGoodNode(walk, null)) return false;
  if (!refused) return sent < limits.attemptsMax;
  return performance.now() < reconnectUntil || story.length < Math.min(limits.attemptsMax, 2 * nodes.length);
}
